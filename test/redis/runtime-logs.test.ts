import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { RuntimeLogs as ApiRuntimeLogs } from '../../api/environments/runtime-logs.ts';
import { withBuffers } from '../../process/redis-connection.ts';
import { runtimeLogKeys } from '../../build-logs/keys.ts';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { LogReader } from '../../build-logs/reader.ts';
import type { Environment } from '../../crds/environment.ts';
import type { PodLogOptions } from '../../kubernetes/client-options.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { RuntimeLogs } from '../../operator/reports/runtime-logs/runtime-logs.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

jest.setTimeout(60_000);

/** Pods of one service, whose logs the test writes, read as from the kubelet. */
class FakePods {
  readonly logs = new Map<string, string[]>();
  readonly pods: Pod[] = [];
  follows = 0;
  #nanoseconds = 0n;

  add(name: string): void {
    this.logs.set(name, []);
    this.pods.push({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'env-shop--acme', name, labels: { 'coppice.dev/service': 'web' } },
      status: { containerStatuses: [{ name: 'web', containerID: `containerd://${name}`, state: { running: {} } }] },
    } as unknown as Pod);
  }

  write(pod: string, ...lines: string[]): void {
    // Times like the kubelet's: to the nanosecond, and never decreasing.
    const time = () => {
      this.#nanoseconds = this.#nanoseconds + 1n;
      return new Date().toISOString().replace('Z', `${String(this.#nanoseconds).padStart(6, '0')}Z`);
    };
    this.logs.get(pod)?.push(...lines.map((line) => `${time()} ${line}`));
  }

  async *podLog({ name }: { name: string }, { follow, tailLines, sinceTime, signal }: PodLogOptions = {}) {
    const log = this.logs.get(name) ?? [];
    const since = log.findIndex((line) => line.slice(0, 19) >= (sinceTime ?? '').slice(0, 19));
    let next = Math.max(since === -1 ? log.length : since, tailLines === undefined ? 0 : log.length - tailLines);
    if (follow) this.follows++;
    try {
      do {
        for (; next < log.length; next++) yield log[next] ?? '';
        if (follow) await sleep(5);
      } while (follow && !signal?.aborted && this.logs.get(name) === log);
    } finally {
      if (follow) this.follows--;
    }
  }

  /** Breaks the connection to this pod's log. */
  breakOff(name: string): void {
    this.logs.set(name, [...(this.logs.get(name) ?? [])]);
  }
}

let server: TestRedis;
let redis: RedisClient;
let pods: FakePods;
let operator: RuntimeLogs;
let api: ApiRuntimeLogs;
let followRequest: { environment: string; uid: string; service: string };
const ends: AbortController[] = [];

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
});
afterAll(() => server.stop());

beforeEach(async () => {
  followRequest = { environment: 'group-acme/shop', uid: randomUUID(), service: 'web' };
  pods = new FakePods();
  pods.add('web-1');
  operator = newOperator();
  operator.start(await server.connect());
  const [commands, subscriber] = [withBuffers(redis), await server.connect()];
  const onRedisError = (error: unknown) => console.error(error);
  const reader = new LogReader({ redis: commands, subscriber, onRedisError });
  api = new ApiRuntimeLogs({ redis, pages: commands, reader, onRedisError, startTimeoutMs: 2000 });
});
afterEach(() => {
  for (const end of ends.splice(0)) end.abort();
  operator.stop();
});

function newOperator(maxFollowed?: number): RuntimeLogs {
  return new RuntimeLogs({
    client: pods,
    pods: { byIndex: () => pods.pods },
    environments: { get: () => ({ metadata: { uid: followRequest.uid } }) as Environment },
    namespaceOf: () => 'env-shop--acme',
    ownerOf: (group) => ({ group, tenant: group }),
    redis,
    now: () => new Date(),
    logger: silentLogger,
    ...(maxFollowed !== undefined && { maxFollowed }),
  });
}

function follow(range: { tail: number; from?: number } = { tail: 100 }) {
  const end = new AbortController();
  ends.push(end);
  const messages: BuildLogMessage[] = [];
  const done = (async () => {
    for await (const page of api.follow(followRequest, range, end.signal)) messages.push(...page.messages());
  })();
  done.catch(() => undefined);
  return { messages, done, end };
}

const textsOf = (messages: BuildLogMessage[]) => messages.map((message) => ('line' in message ? message.line : ''));

async function until(isReached: () => boolean, what: () => unknown = () => ''): Promise<void> {
  for (const end = Date.now() + 30_000; !isReached();) {
    if (Date.now() > end) throw new Error(`not within 30 s: ${JSON.stringify(what())}`);
    await sleep(10);
  }
}

async function read(tail: number): Promise<string[]> {
  const messages: BuildLogMessage[] = [];
  for await (const page of api.read(followRequest, { tail }, AbortSignal.timeout(10_000)))
    messages.push(...page.messages());
  return textsOf(messages);
}

test('sends existing and new lines to several viewers of one followed log', async () => {
  pods.write('web-1', 'a', 'b', 'c');
  const viewers = [follow(), follow({ tail: 1 }), follow()];
  await until(() => viewers.every(({ messages }) => messages.length > 0));
  pods.write('web-1', 'd');
  await until(() => viewers.every(({ messages }) => textsOf(messages).includes('d')));
  expect(viewers.map(({ messages }) => textsOf(messages))).toEqual([
    ['a', 'b', 'c', 'd'],
    ['c', 'd'],
    ['a', 'b', 'c', 'd'],
  ]);
  expect(viewers[0]?.messages[0]).toMatchObject({ service: 'web', stage: 'run', pod: 'web-1' });
  expect(pods.follows).toBe(1);
});

test('returns the last lines without following', async () => {
  expect(await read(5)).toEqual([]);
  pods.write('web-1', ...Array.from({ length: 1500 }, (_, index) => `line ${index}`));
  await until(() => pods.follows === 1);
  await sleep(200);
  expect(await read(2)).toEqual(['line 1498', 'line 1499']);
});

test('continues while pods are replaced', async () => {
  pods.write('web-1', 'old');
  const { messages } = follow();
  await until(() => messages.length === 1);
  pods.add('web-2');
  pods.write('web-2', 'new');
  operator.follow(pods.pods[1]!);
  await until(() => messages.length === 2);
  pods.pods.shift();
  pods.write('web-2', 'newer');
  await until(() => messages.length === 3);
  expect(textsOf(messages)).toEqual(['old', 'new', 'newer']);
});

test('continues after an interruption and with another operator without lost or repeated lines', async () => {
  pods.write('web-1', 'a', 'b');
  const { messages } = follow();
  await until(() => messages.length === 2);
  pods.breakOff('web-1');
  pods.write('web-1', 'c');
  await until(
    () => messages.length === 3,
    () => textsOf(messages),
  );
  operator.stop();
  pods.write('web-1', 'd');
  operator = newOperator();
  operator.start(await server.connect());
  const second = follow({ tail: 0, from: messages[1]?.seq ?? 0 });
  await until(
    () => messages.length === 4 && second.messages.length === 2,
    () => textsOf(messages),
  );
  expect(textsOf(messages)).toEqual(['a', 'b', 'c', 'd']);
  expect(textsOf(second.messages)).toEqual(['c', 'd']);
});

test('starts a log that Redis lost again, with higher numbers', async () => {
  pods.write('web-1', 'a');
  const { messages } = follow();
  await until(() => messages.length === 1);
  const { stream, state } = runtimeLogKeys(followRequest.uid, 'web');
  await redis.del([stream, state]);
  pods.write('web-1', 'b');
  await until(
    () => textsOf(messages).includes('b'),
    () => textsOf(messages),
  );
  const seqs = messages.map(({ seq }) => seq);
  expect(seqs).toEqual([...seqs].sort((one, other) => one - other));
});

/** Returns how many lines of the flood were received or reported as omitted. */
function sumOf(messages: BuildLogMessage[]): number {
  const lines = textsOf(messages);
  const reported = lines.flatMap((line) => /^\[(\d+) lines omitted/.exec(line)?.[1] ?? []);
  return (
    reported.reduce((sum, count) => sum + Number(count), 0) + lines.filter((line) => line.startsWith('xxx')).length
  );
}

test('omits and reports lines that arrive too fast, and keeps little in Redis', async () => {
  pods.write('web-1', 'first');
  const { messages } = follow();
  await until(() => messages.length === 1);
  for (let step = 0; step < 30; step++) pods.write('web-1', ...Array<string>(100).fill('x'.repeat(2000)));
  await until(() => textsOf(messages).some((line) => line.includes('omitted')));
  await sleep(1100);
  pods.write('web-1', 'last');
  await until(
    () => textsOf(messages).includes('last') && sumOf(messages) >= 3000,
    () => sumOf(messages),
  );
  expect(sumOf(messages)).toBe(3000);
  expect(await redis.memoryUsage(runtimeLogKeys(followRequest.uid, 'web').stream)).toBeLessThan(6 * 1024 * 1024);
});

test('follows nothing without viewers', async () => {
  const { messages, end } = follow();
  pods.write('web-1', 'a');
  await until(() => messages.length === 1);
  end.abort();
  await redis.del(runtimeLogKeys(followRequest.uid, 'web').followRequest);
  await until(() => pods.follows === 0);
  expect(await redis.exists(runtimeLogKeys(followRequest.uid, 'web').loaded)).toBe(0);
});

test('reports an operator that does not respond', async () => {
  operator.stop();
  await expect(follow().done).rejects.toThrow('no operator has started to follow the log');
});

test('reports a follow request beyond the limit at once, and continues with others', async () => {
  operator.stop();
  operator = newOperator(1);
  operator.start(await server.connect());
  await sleep(100);
  const { messages } = follow();
  pods.write('web-1', 'a');
  await until(() => messages.length === 1);
  const others = api.read({ ...followRequest, service: 'other' }, { tail: 1 }, AbortSignal.timeout(10_000));
  await expect(others.next()).rejects.toThrow('too many service logs');
  pods.write('web-1', 'b');
  await until(() => messages.length === 2);
});
