// Measures a build log's way from the operator to its viewers: `node test/build-logs/throughput.ts [lines a second]
// [seconds] [viewers]`. Three processes beside a Redis of their own: this one is the operator, with pods that are made
// up; one is the API's log stream; one holds the viewers.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { LogSession } from '../../operator/build/log-session.ts';
import { startRedis } from '../redis/start-redis.ts';

const [rate = 50_000, seconds = 5, viewers = 50] = process.argv.slice(2).map(Number);
const secrets = Array.from({ length: 50 }, (_, index) => `secret-number-${index}-${'x'.repeat(index)}`);
const containers = ['build-web', 'build-api', 'build-worker', 'build-docs'];
const tickMs = 5;

/** What a container writes: its share of the lines, evenly, each with the time it was written at. */
async function* lines(): AsyncGenerator<string> {
  const perContainer = rate / containers.length;
  const started = performance.now();
  for (let written = 0; written < perContainer * seconds;) {
    const due = Math.min(((performance.now() - started) / 1000) * perContainer, perContainer * seconds);
    const now = (performance.timeOrigin + performance.now()).toFixed(3);
    const time = new Date().toISOString().replace('Z', '000000Z');
    for (; written < due; written++) yield `${time} #9 ${now} the ${written}th line of a build, as long as they are`;
    await delay(tickMs);
  }
}

function buildPod(state: object): Pod {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'env-x', name: 'build' },
    status: { containerStatuses: containers.map((name) => ({ name, state })) },
  };
  return pod as unknown as Pod;
}

async function message(child: ChildProcess): Promise<unknown> {
  const [said] = (await once(child, 'message')) as [unknown];
  return said;
}

const redis = await startRedis();
const client = await redis.connect();
const process1 = fork(new URL('serve.ts', import.meta.url), [String(redis.port)]);
const port = await message(process1);
const process2 = fork(new URL('view.ts', import.meta.url), [String(port), String(viewers)]);
await message(process2);

const ended = buildPod({ terminated: { startedAt: 'now' } });
const session = new LogSession({
  client: { podLog: lines },
  openWriter: () => BuildLogWriter.open(client, 'uid/1', { secrets }),
  currentPod: () => ended,
  onDrained: () => undefined,
  onPushed: () => undefined,
  onEnded: () => Promise.resolve(),
  logger: silentLogger,
});
const cpu = process.cpuUsage();
const started = performance.now();
session.follow(ended);
while (!session.isDrained(ended)) await delay(10);
const writing = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(cpu);
await session.end('succeeded', '');
const seen = await message(process2);
const reading = (performance.now() - started) / 1000;
process1.send('end');
const served = await message(process1);
const result = {
  lines: rate * seconds,
  viewers,
  writing: { linesPerSecond: Math.round((rate * seconds) / writing), cpuShare: (user + system) / 1e6 / writing },
  reading: { linesPerSecond: Math.round((rate * seconds) / reading), ...(seen as object) },
  api: served,
};
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
await redis.stop();
