import { describe, expect, test } from '@jest/globals';
import type { BuildLogWriter, LogLine } from '../../build-logs/writer.ts';
import type { Pod } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { LogSession, splitTimestamp } from './log-session.ts';

const time = '2026-01-01T00:00:00.000000000Z';

function pod(state: object): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'env-x', name: 'build' },
    status: { containerStatuses: [{ name: 'build-web', state }] },
  } as Pod;
}

const running = pod({ running: { startedAt: time } });
const ended = pod({ terminated: { startedAt: time, exitCode: 0 } });

/** A stream that holds `already` lines of every container, and may fail at first. */
function fakeWriter(already = 0, failures = 0) {
  const lines: LogLine[] = [];
  let failing = failures;
  const writer = {
    linesWritten: () => already + lines.length,
    append: (_source: string, added: readonly LogLine[]) => {
      if (failing-- > 0) return Promise.reject(new Error('Redis is away'));
      lines.push(...added);
      return Promise.resolve();
    },
  } as Partial<BuildLogWriter> as BuildLogWriter;
  return { writer, lines };
}

/** Every reading gives the next of these logs; the last one again and again. */
function fakeLogs(...readings: string[][]) {
  return {
    podLog: async function* () {
      const lines = readings.length > 1 ? readings.shift() : readings[0];
      for (const line of lines ?? []) yield await Promise.resolve(`${time} ${line}`);
    },
  };
}

async function followed(writer: BuildLogWriter, client: ReturnType<typeof fakeLogs>, pods: Pod[]) {
  let drained = () => {};
  const end = new Promise<void>((resolve) => (drained = resolve));
  const session = new LogSession({
    client,
    openWriter: () => Promise.resolve(writer),
    currentPod: () => (pods.length > 1 ? pods.shift() : pods[0]),
    onDrained: () => drained(),
    logger: silentLogger,
  });
  session.follow(running);
  await end;
  expect(session.isDrained(ended)).toBe(true);
}

describe('a container followed to its end', () => {
  test('gives each line once, though the stream broke off and was read again', async () => {
    const { writer, lines } = fakeWriter();
    await followed(writer, fakeLogs(['a', 'b'], ['a', 'b', 'c']), [running, ended]);
    expect(lines.map(({ line, service, stage }) => `${stage} ${service} ${line}`)).toEqual([
      'build web a',
      'build web b',
      'build web c',
    ]);
  });

  test('goes on after what an operator before has written', async () => {
    const { writer, lines } = fakeWriter(2);
    await followed(writer, fakeLogs(['a', 'b', 'c']), [ended]);
    expect(lines.map(({ line }) => line)).toEqual(['c']);
  });

  test('tries again when Redis was away', async () => {
    const { writer, lines } = fakeWriter(0, 1);
    await followed(writer, fakeLogs(['a', 'b']), [ended]);
    expect(lines.map(({ line }) => line)).toEqual(['a', 'b']);
  });
});

test.each([
  [`${time} text here`, { time, line: 'text here' }],
  [`${time} `, { time, line: '' }],
  ['failed to open log file', { line: 'failed to open log file' }],
])('splitTimestamp(%j)', (text, expected) => {
  expect(splitTimestamp(text)).toEqual(expected);
});
