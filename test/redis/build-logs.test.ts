import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildLogKeys, type LogKeys } from '../../build-logs/keys.ts';
import type { LogPage } from '../../build-logs/page.ts';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import { LogMissingError, LogReader, type ReadOptions } from '../../build-logs/reader.ts';
import { BuildLogWriter, type LogLine } from '../../build-logs/writer.ts';
import { withBuffers } from '../../process/redis-connection.ts';
import { type RedisClient, startRedis, type TestRedis } from './start-redis.ts';

let server: TestRedis;
let redis: RedisClient;
let reader: LogReader;
let redisErrors: unknown[] = [];

jest.setTimeout(60_000);

beforeAll(async () => {
  server = await startRedis();
  redis = await server.connect();
  reader = await newReader();
});
afterAll(() => server.stop());

async function newReader(): Promise<LogReader> {
  const [commands, subscriber] = [await server.connect(), await server.connect()];
  return new LogReader({ redis: withBuffers(commands), subscriber, onRedisError: (error) => redisErrors.push(error) });
}

const newLogId = (): string => `${randomUUID()}/1`;
const log = (from: number, to: number): LogLine[] =>
  Array.from({ length: to - from }, (_, index) => ({
    service: 'web',
    stage: 'build',
    time: '2026-11-21T10:00:00.123456789Z',
    line: `line ${from + index}`,
  }));
const shown = (message: BuildLogMessage): string => ('line' in message ? message.line : `end: ${message.end.result}`);

async function readAll(logId: string, options: Partial<ReadOptions> = {}, from = reader): Promise<BuildLogMessage[]> {
  const messages: BuildLogMessage[] = [];
  const signal = AbortSignal.timeout(30_000);
  for await (const page of from.read(buildLogKeys(logId), { signal, ...options })) messages.push(...page.messages());
  expect(options.signal?.aborted ?? signal.aborted).toBe(false);
  return messages;
}

/** Checks a complete log: numbered without gaps, each line once and in order, and one end message. */
function expectComplete(messages: BuildLogMessage[], lines: number): void {
  expect(messages.map(({ seq }) => seq)).toEqual(Array.from({ length: lines + 1 }, (_, index) => index + 1));
  expect(messages.map(shown)).toEqual([...log(0, lines).map(({ line }) => line), 'end: succeeded']);
}

async function readKept(logId: string, from: number): Promise<string[]> {
  const shownLines: string[] = [];
  const { signal } = new AbortController();
  for await (const page of reader.readKept(buildLogKeys(logId), { from, signal })) {
    shownLines.push(...page.messages().map(shown));
  }
  return shownLines;
}

describe('writing and reading', () => {
  test('reads existing lines without waiting for more', async () => {
    const logId = newLogId();
    expect(await readKept(logId, 0)).toEqual([]);
    const writer = await BuildLogWriter.open(redis, logId);
    const lines = log(0, 20_000);
    await writer.append('build-web', lines);
    expect(await readKept(logId, 0)).toEqual(lines.map(({ line }) => line));
    expect(await readKept(logId, 19_999)).toEqual(['line 19999']);
    await writer.end('failed', 'web');
    expect(await readKept(logId, 20_000)).toEqual(['end: failed']);
    expect(await readKept(logId, 20_001)).toEqual([]);
  });

  test('replays a log in order, with its end', async () => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    await writer.append('build-web', log(0, 2500));
    await writer.end('succeeded', 'built');
    const messages = await readAll(logId);
    expectComplete(messages, 2500);
    expect(messages[0]).toEqual({ seq: 1, ...log(0, 1)[0] });
    expect(messages.at(-1)).toMatchObject({ end: { result: 'succeeded', message: 'built' } });
  });

  test.each([0, 1, 499, 500, 501, 1999])('continues after seq %i', async (from) => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    await writer.append('build-web', log(0, 2000));
    await writer.end('succeeded', '');
    expect((await readAll(logId, { from })).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 2001 - from }, (_, index) => from + index + 1),
    );
  });

  test.each([1, 2, 1_000_000])('returns nothing to a reader that has all of an ended log (%i)', async (from) => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    await writer.end('failed', '');
    expect(await readAll(logId, { from })).toEqual([]);
  });

  test('sends everything to several readers that start before, during and after', async () => {
    const logId = newLogId();
    const [writer, other] = [await BuildLogWriter.open(redis, logId), await newReader()];
    const readings = [readAll(logId), readAll(logId, {}, other)];
    for (let line = 0; line < 3000; line += 100) {
      await writer.append('build-web', log(line, line + 100));
      readings.push(readAll(logId), readAll(logId, {}, other));
      if (line % 500 === 0) await sleep(5);
    }
    await writer.end('succeeded', '');
    readings.push(readAll(logId));
    for (const messages of await Promise.all(readings)) expectComplete(messages, 3000);
  });

  test('sends a line to a waiting reader at once', async () => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    const pages = reader.read(buildLogKeys(logId), { signal: AbortSignal.timeout(30_000) });
    const delays: number[] = [];
    for (let line = 0; line < 50; line++) {
      const next = pages.next();
      await sleep(20);
      const start = performance.now();
      await writer.append('build-web', log(line, line + 1));
      expect((await next).value).toMatchObject({ first: line + 1, last: line + 1 });
      delays.push(performance.now() - start);
    }
    await pages.return();
    expect(delays.sort((a, b) => a - b)[25]).toBeLessThan(200);
  });

  test('keeps little memory for a reader that pauses, and loses nothing', async () => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    const slow = reader.read(buildLogKeys(logId), { signal: AbortSignal.timeout(60_000) });
    await writer.append('build-web', log(0, 1));
    const messages: BuildLogMessage[] = [];
    const take = async (): Promise<void> => void messages.push(...((await slow.next()).value as LogPage).messages());
    await take();
    for (let line = 1; line < 20_000; line += 1000)
      await writer.append('build-web', log(line, Math.min(line + 1000, 20_000)));
    await sleep(100);
    await take();
    await take();
    expect(messages.length).toBeLessThan(20_000);
    await writer.end('succeeded', '');
    for await (const page of slow) messages.push(...page.messages());
    expectComplete(messages, 20_000);
  });

  test('masks a secret in base64 over the lines of several appends', async () => {
    const logId = newLogId();
    const secret = Array.from({ length: 40 }, (_, index) => `key material ${index * 7919}`).join('\n');
    const lines =
      Buffer.from(secret)
        .toString('base64')
        .match(/.{1,76}/g) ?? [];
    const writer = await BuildLogWriter.open(redis, logId, { secrets: [secret] });
    for (const line of lines) await writer.append('a', [{ service: '', stage: '', line }]);
    await writer.end('succeeded', `as it ended: ${lines.join('\n')}`);
    const messages = await readAll(logId);
    for (const message of messages.slice(0, -1)) expect(shown(message)).toMatch(/^\*\*\*.{0,3}$/);
    expect(JSON.stringify(messages.at(-1))).toMatch(/as it ended: (\*\*\*(\\n)?){2,}.{0,3}"/);
  });

  test('masks secrets, cuts long lines, and replaces invalid times', async () => {
    const logId = newLogId();
    const now = () => new Date('2026-11-21T12:00:00Z');
    const writer = await BuildLogWriter.open(redis, logId, { secrets: ['hunter2'], now });
    await writer.append('a', [
      { service: '', stage: 'clone', time: 'yesterday', line: `hunter2${'x'.repeat(20_000)}` },
    ]);
    await writer.end('failed', 'hunter2 was refused');
    const [line, end] = await readAll(logId);
    expect(line).toMatchObject({
      time: '2026-11-21T12:00:00.000Z',
      line: expect.stringMatching(/^\*{3}x+… \[the line is cut/),
    });
    expect(end).toMatchObject({ end: { message: '*** was refused' } });
  });

  test('keeps 8 MiB of a source, then one message; other sources continue', async () => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    const long = { service: 'web', stage: 'build', line: 'x'.repeat(1023) };
    await writer.append('build-web', Array<LogLine>(9 * 1024).fill(long));
    await writer.append('build-api', [{ service: 'api', stage: 'build', line: 'still here' }]);
    await writer.end('succeeded', '');
    const lines = (await readAll(logId)).map(shown);
    expect(lines.filter((line) => line === long.line)).toHaveLength(8 * 1024);
    expect(lines.slice(8 * 1024)).toEqual([
      '[this log is longer than 8 MiB: the rest is omitted]',
      'still here',
      'end: succeeded',
    ]);
    const reopened = await BuildLogWriter.open(redis, logId);
    expect(reopened.linesWritten('build-web')).toBe(9 * 1024);
  });

  test('expires a log', async () => {
    const logId = newLogId();
    const { stream, state } = buildLogKeys(logId);
    const writer = await BuildLogWriter.open(redis, logId);
    await writer.append('a', log(0, 1));
    for (const key of [stream, state]) expect(await redis.ttl(key)).toBeGreaterThan(7 * 86_400 - 60);
    await (await BuildLogWriter.open(redis, logId, { retentionSeconds: 100 })).append('a', log(1, 2));
    for (const key of [stream, state]) expect(await redis.ttl(key)).toBeLessThanOrEqual(100);
  });
});

describe('a missing log', () => {
  test('is awaited until the deadline', async () => {
    await expect(readAll(newLogId(), { deadlineMs: 50 })).rejects.toBeInstanceOf(LogMissingError);
  });

  test('is awaited until the signal, which is not an error', async () => {
    const pages: LogPage[] = [];
    const signal = AbortSignal.timeout(50);
    for await (const page of reader.read(buildLogKeys(newLogId()), { signal })) pages.push(page);
    expect(pages).toEqual([]);
  });

  test('is read as soon as it exists, without a deadline from then on', async () => {
    const logId = newLogId();
    const reading = readAll(logId, { deadlineMs: 2000 });
    await sleep(100);
    const writer = await BuildLogWriter.open(redis, logId);
    await writer.append('build-web', log(0, 1));
    await sleep(2500);
    await writer.end('succeeded', '');
    expectComplete(await reading, 1);
  });
});

describe('writers', () => {
  test('write each line once if two read the same sources at the same time', async () => {
    const logId = newLogId();
    const [one, two] = [
      await BuildLogWriter.open(redis, logId),
      await BuildLogWriter.open(await server.connect(), logId),
    ];
    const write = async (writer: BuildLogWriter, step: number): Promise<void> => {
      const written = writer.linesWritten('build-web');
      await writer.appendOnce('start', { service: '', stage: 'coppice', line: 'start' });
      for (let line = written; line < 3000; line += step)
        await writer.append('build-web', log(line, Math.min(line + step, 3000)));
      await writer.end('succeeded', '');
    };
    await Promise.all([write(one, 7), write(two, 13)]);
    const [start, ...rest] = await readAll(logId);
    expect(shown(start!)).toBe('start');
    expectComplete(
      rest.map((message) => ({ ...message, seq: message.seq - 1 })),
      3000,
    );
  });

  test('continue after one that was killed by reading the sources again', async () => {
    const logId = newLogId();
    const killed = await server.connect();
    const first = await BuildLogWriter.open(killed, logId);
    // More lines are being sent when the connection breaks, and nobody knows which have arrived.
    const appending = Array.from({ length: 50 }, (_, step) =>
      first.append('build-web', log(step * 100, step * 100 + 100)),
    );
    await appending[5];
    killed.destroy();
    const results = await Promise.allSettled(appending);
    expect(results.at(-1)?.status).toBe('rejected');
    const second = await BuildLogWriter.open(redis, logId);
    const written = second.linesWritten('build-web');
    expect(written).toBeGreaterThanOrEqual(600);
    expect(written).toBeLessThan(5000);
    await second.append('build-web', log(0, 5000).slice(written));
    await second.end('succeeded', '');
    expectComplete(await readAll(logId), 5000);
  });

  test('can repeat a failed call', async () => {
    const logId = newLogId();
    let failures = 1;
    const flaky = {
      hGetAll: redis.hGetAll.bind(redis),
      eval: redis.eval.bind(redis),
      evalSha: async (sha: string, options: { keys: string[]; arguments: string[] }) => {
        const result = await redis.evalSha(sha, options);
        if (failures-- > 0) throw new Error('the answer did not arrive');
        return result;
      },
    };
    const writer = await BuildLogWriter.open(flaky, logId);
    const append = () => writer.append('build-web', log(0, 10));
    await expect(append()).rejects.toThrow('did not arrive');
    expect(writer.linesWritten('build-web')).toBe(0);
    await append();
    await writer.end('succeeded', '');
    await writer.end('failed', '');
    await writer.append('build-web', log(10, 20));
    await writer.append('build-web', log(20, 30));
    await writer.appendOnce('late', { service: '', stage: '', line: 'late' });
    expectComplete(await readAll(logId), 10);
  });
});

describe('after a restart of Redis', () => {
  test('lets readers and writers continue without losses', async () => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    await writer.append('build-web', log(0, 1000));
    const live = reader.read(buildLogKeys(logId), { signal: AbortSignal.timeout(60_000) });
    const messages: BuildLogMessage[] = [];
    while (messages.length < 1000) messages.push(...((await live.next()).value as LogPage).messages());
    const next = live.next();
    redisErrors = [];
    await server.kill();
    const appending = writer.append('build-web', log(1000, 1010)).catch((error: unknown) => error);
    // Longer than the client lets a command wait.
    await sleep(6500);
    expect(redisErrors).not.toEqual([]);
    await server.start();
    await appending;
    await writer.append('build-web', log(0, 2000).slice(writer.linesWritten('build-web')));
    await writer.end('succeeded', '');
    messages.push(...((await next).value as LogPage).messages());
    for await (const page of live) messages.push(...page.messages());
    expectComplete(messages, 2000);
    expectComplete(await readAll(logId), 2000);
  });

  test.each<[string, (keys: LogKeys) => string[]]>([
    ['all of it', ({ stream, state }) => [stream, state]],
    ['the stream, which was evicted', ({ stream }) => [stream]],
    ['the state, which was evicted', ({ state }) => [state]],
  ])('that has lost %s, the writer reports it, and the next one starts over', async (_, lost) => {
    const logId = newLogId();
    const writer = await BuildLogWriter.open(redis, logId);
    await writer.append('build-web', log(0, 100));
    await redis.del(lost(buildLogKeys(logId)));
    const refused = { name: 'LogLostError' };
    await expect(writer.append('build-web', log(100, 200))).rejects.toMatchObject(refused);
    await expect(writer.append('build-web', log(100, 200))).rejects.toMatchObject(refused);
    await expect(writer.end('succeeded', '')).rejects.toMatchObject(refused);
    const second = await BuildLogWriter.open(redis, logId);
    expect(second.linesWritten('build-web')).toBe(0);
    await second.append('build-web', log(0, 200));
    await second.end('succeeded', '');
    expectComplete(await readAll(logId), 200);
  });
});
