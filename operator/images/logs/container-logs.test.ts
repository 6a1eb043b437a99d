import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { BuildLogWriter, LogLine } from '../../../build-logs/writer.ts';
import type { PodLogOptions } from '../../../kubernetes/client-options.ts';
import { readLines } from '../../../kubernetes/lines.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { ContainerLogs } from './container-logs.ts';

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

/** A stream that has `already` lines of every container, and whose first `failures` writes fail. */
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

/** Logs of which each read returns the next, and finally always the last. */
function fakeLogs(...readings: string[][]) {
  return fakeTexts(...readings.map((lines) => lines.map((line) => `${time} ${line}\n`).join('')));
}

/** Like fakeLogs, with the text that the API server sends. */
function fakeTexts(...readings: string[]) {
  return {
    podLog: (_at: unknown, { wholeLinesOnly }: PodLogOptions = {}) => {
      const text = (readings.length > 1 ? readings.shift() : readings[0]) ?? '';
      return readLines(Readable.from([Buffer.from(text)]), Infinity, wholeLinesOnly);
    },
  };
}

async function followed(writer: BuildLogWriter, client: ReturnType<typeof fakeLogs>, pods: Pod[]) {
  let drained = () => {};
  const end = new Promise<void>((resolve) => (drained = resolve));
  const logs = new ContainerLogs({
    client,
    openWriter: () => Promise.resolve(writer),
    currentPod: () => (pods.length > 1 ? pods.shift() : pods[0]),
    onDrained: () => drained(),
    onPushed: () => undefined,
    onLost: () => undefined,
    logger: silentLogger,
  });
  logs.follow(running);
  await end;
  expect(logs.isDrained(ended)).toBe(true);
}

describe('following a container to its end', () => {
  test('returns each line once although the stream broke off and was read again', async () => {
    const { writer, lines } = fakeWriter();
    await followed(writer, fakeLogs(['a', 'b'], ['a', 'b', 'c']), [running, ended]);
    expect(lines.map(({ line, service, stage }) => `${stage} ${service} ${line}`)).toEqual([
      'build web a',
      'build web b',
      'build web c',
    ]);
  });

  test("does not return the kubelet's own messages as lines", async () => {
    const { writer, lines } = fakeWriter();
    const refusal = 'failed to create fsnotify watcher: too many open files\n';
    const logs = fakeTexts(`${time} a\n${refusal}`, `${time} a\n${refusal}`, `${time} a\n${time} b\n${time} c\n`);
    await followed(writer, logs, [running, running, ended]);
    expect(lines.map(({ line }) => line)).toEqual(['a', 'b', 'c']);
  });

  test('returns a line that was cut off completely after the next read', async () => {
    const { writer, lines } = fakeWriter();
    const logs = fakeTexts(`${time} a\n${time} hal`, `${time} a\n${time} half\n${time} without a newline`);
    await followed(writer, logs, [running, ended]);
    expect(lines.map(({ line }) => line)).toEqual(['a', 'half', 'without a newline']);
  });

  test('continues after what a previous operator has written', async () => {
    const { writer, lines } = fakeWriter(2);
    await followed(writer, fakeLogs(['a', 'b', 'c']), [ended]);
    expect(lines.map(({ line }) => line)).toEqual(['c']);
  });

  test('tries again after Redis was away', async () => {
    const { writer, lines } = fakeWriter(0, 1);
    await followed(writer, fakeLogs(['a', 'b']), [ended]);
    expect(lines.map(({ line }) => line)).toEqual(['a', 'b']);
  });
});

describe('the line that reports a pushed image', () => {
  const name = 'r.example/g/web:t1@sha256:0123';
  async function pushedBy(...lines: string[]) {
    const { writer } = fakeWriter(lines.length);
    let reported = 0;
    const drained = Promise.withResolvers<true>();
    const logs = new ContainerLogs({
      client: fakeLogs(lines),
      openWriter: () => Promise.resolve(writer),
      currentPod: () => ended,
      onDrained: () => drained.resolve(true),
      onPushed: () => reported++,
      onLost: () => undefined,
      logger: silentLogger,
    });
    const spec = { containers: [{ name: 'clone' }, { name: 'build-web' }] };
    const building = { ...ended, spec } as unknown as Pod;
    expect(logs.havePushed(building)).toBe(false);
    logs.follow(building);
    await drained.promise;
    return [logs.havePushed(building), reported];
  }

  test.each([`#9 pushing manifest for ${name} done`, `#12 pushing manifest for ${name} 0.1s done`])(
    'is recognized as %s, also if a previous operator had written it, and reported once',
    async (line) => {
      expect(await pushedBy('#9 exporting to image', line, line)).toEqual([true, 1]);
    },
  );

  test.each([
    `#9 pushing manifest for ${name}`,
    `#9 0.123 #9 pushing manifest for ${name} done`,
    `#9 pushing manifest for a b done`,
    '#9 pushing layers 0.1s done',
  ])('is not recognized as %s', async (line) => {
    expect(await pushedBy(line)).toEqual([false, 0]);
  });
});
