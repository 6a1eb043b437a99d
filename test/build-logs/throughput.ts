// Measures a build log's way from the operator to its viewers: `node test/build-logs/throughput.ts [lines a second]
// [seconds] [viewers]`. Three processes beside a Redis of their own: this one is the operator, with pods that are made
// up; one is the API's log stream; one holds the viewers. Before that, the same lines to as many viewers with nothing between.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { LogSession } from '../../operator/build/log-session.ts';
import { startRedis } from '../redis/start-redis.ts';
import { containers, madeUpLines } from './made-up-lines.ts';

const [rate = 50_000, seconds = 5, viewers = 50] = process.argv.slice(2).map(Number);
const secrets = Array.from({ length: 50 }, (_, index) => `secret-number-${index}-${'x'.repeat(index)}`);

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

function start(script: string, ...args: readonly unknown[]): ChildProcess {
  return fork(new URL(script, import.meta.url), args.map(String));
}

/** What viewers have of a server that hands the same lines out and does nothing else. */
async function measureRaw(): Promise<unknown> {
  const server = start('serve-raw.ts', rate, seconds);
  const view = start('view.ts', 'raw', await message(server), viewers);
  await message(view);
  server.send('begin');
  return message(view);
}

async function measureLog(): Promise<object> {
  const redis = await startRedis();
  const client = await redis.connect();
  const api = start('serve.ts', redis.port);
  const view = start('view.ts', 'log', await message(api), viewers);
  await message(view);

  const ended = buildPod({ terminated: { startedAt: 'now' } });
  const session = new LogSession({
    client: { podLog: () => madeUpLines(rate, seconds) },
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
  const seen = await message(view);
  const reading = (performance.now() - started) / 1000;
  api.send('end');
  const served = await message(api);
  await redis.stop();
  return {
    writing: { linesPerSecond: Math.round((rate * seconds) / writing), cpuShare: (user + system) / 1e6 / writing },
    reading: { linesPerSecond: Math.round((rate * seconds) / reading), ...(seen as object) },
    api: served,
  };
}

const result = { lines: rate * seconds, viewers, raw: await measureRaw(), ...(await measureLog()) };
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
