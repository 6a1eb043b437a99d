// Measures a build log's path from the operator to its viewers: `node test/build-logs/throughput.ts [lines a second]
// [seconds] [viewers]`. Three processes and a Redis: this one is the operator with simulated pods, one is the API's log
// stream, one holds the viewers. Measures the same lines to as many viewers over plain TCP first.
import { fork, type ChildProcess } from 'node:child_process';
import { on } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { BuildLogWriter } from '../../build-logs/writer.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { LogSession } from '../../operator/images/logs/log-session.ts';
import { withCleanUp } from '../support/clean-up.ts';
import { startRedis, type TestRedis } from '../redis/start-redis.ts';
import { CONTAINERS, madeUpLines } from './simulated-lines.ts';

const [rate = 50_000, seconds = 5, viewers = 50] = process.argv.slice(2).map(Number);
const secrets = Array.from({ length: 50 }, (_, index) => `secret-number-${index}-${'x'.repeat(index)}`);

function buildPod(state: object): Pod {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'env-x', name: 'build' },
    status: { containerStatuses: CONTAINERS.map((name) => ({ name, state })) },
  };
  return pod as unknown as Pod;
}

interface Started {
  process: ChildProcess;
  /** Returns the process's next message; throws if it has ended. */
  next: () => Promise<unknown>;
}

function start(script: string, ...args: readonly unknown[]): Started {
  const process = fork(new URL(script, import.meta.url), args.map(String));
  const messages = on(process, 'message', { close: ['exit'] }) as AsyncIterator<[unknown], undefined>;
  const next = async () => {
    const reported = await messages.next();
    if (reported.done === true) throw new Error(`${script} has ended`);
    return reported.value[0];
  };
  return { process, next };
}

/** Measures viewers of a server that only sends the same lines; returns the bytes for each, and the server's memory. */
async function measureRaw(): Promise<object> {
  const server = start('serve-raw.ts', rate, seconds, viewers);
  const view = start('view.ts', 'raw', await server.next(), viewers);
  await view.next();
  const served = await server.next();
  await view.next();
  server.process.disconnect();
  return { ...(served as object), ...((await view.next()) as object) };
}

async function measureLog(redis: TestRedis): Promise<object> {
  const client = await redis.connect();
  const api = start('serve.ts', redis.port);
  const view = start('view.ts', 'log', await api.next(), viewers);
  await view.next();

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
  await view.next();
  const reading = (performance.now() - started) / 1000;
  const seen = await view.next();
  api.process.send('end');
  const served = await api.next();
  return {
    writing: { linesPerSecond: Math.round((rate * seconds) / writing), cpuShare: (user + system) / 1e6 / writing },
    reading: { linesPerSecond: Math.round((rate * seconds) / reading), ...(seen as object) },
    api: served,
  };
}

const raw = await measureRaw();
const redis = await startRedis();
const log = await withCleanUp(
  () => measureLog(redis),
  () => redis.stop(),
);
process.stdout.write(`${JSON.stringify({ lines: rate * seconds, viewers, raw, ...log }, null, 2)}\n`);
