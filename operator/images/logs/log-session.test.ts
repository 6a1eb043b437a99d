import { expect, test } from '@jest/globals';
import { LogLostError } from '../../../build-logs/append-plan.ts';
import type { BuildLogWriter, LogLine } from '../../../build-logs/writer.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { silentLogger } from '../../../kubernetes/testing/silent-logger.ts';
import { LogSession } from './log-session.ts';

const time = '2026-01-01T00:00:00.000000000Z';
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'env-x', name: 'build' },
  status: {
    containerStatuses: ['clone', 'build-web'].map((name) => ({
      name,
      state: { terminated: { startedAt: time, exitCode: 0 } },
    })),
  },
} as Pod;
const client = {
  podLog: async function* (_at: unknown, { container = '' }: { container?: string } = {}) {
    for (const number of [1, 2]) yield await Promise.resolve(`${time} ${container} ${number}`);
  },
};
const note = (line: string): LogLine => ({ service: '', stage: 'coppice', line });

/** A Redis with one log, which a test can remove without the writer noticing. */
class FakeLog {
  messages: string[] = [];
  counts = new Map<string, number>();
  generation = 0;
  onceKeys = new Set<string>();
  /** Resolves when Redis responds again. */
  silence: Promise<void> | undefined;

  lose(): void {
    this.messages = [];
    this.counts.clear();
    this.onceKeys.clear();
    this.generation++;
  }

  open(): BuildLogWriter {
    const { generation } = this;
    const write = async (texts: string[]): Promise<void> => {
      await this.silence;
      if (generation !== this.generation) throw new LogLostError('lost');
      this.messages.push(...texts);
    };
    return {
      linesWritten: (source: string) => this.counts.get(source) ?? 0,
      append: async (source: string, lines: readonly LogLine[]) => {
        await write(lines.map(({ line }) => line));
        this.counts.set(source, (this.counts.get(source) ?? 0) + lines.length);
      },
      appendOnce: async (key: string, { line }: LogLine) => {
        if (this.onceKeys.has(key) && generation === this.generation) return;
        await write([line]);
        this.onceKeys.add(key);
      },
      end: (result: string) => write([`end: ${result}`]),
    } as Partial<BuildLogWriter> as BuildLogWriter;
  }
}

function startSession(log: FakeLog) {
  const ended: string[] = [];
  const session = new LogSession({
    client,
    openWriter: () => Promise.resolve(log.open()),
    currentPod: () => pod,
    onDrained: () => undefined,
    onPushed: () => undefined,
    onEnded: () => Promise.resolve(void ended.push('ended')),
    logger: silentLogger,
    holdMs: 20,
  });
  return { session, ended };
}

async function drained(session: LogSession): Promise<void> {
  session.follow(pod);
  while (!session.isDrained(pod)) await new Promise((resolve) => setTimeout(resolve, 1));
}

const containers = ['build-web 1', 'build-web 2', 'clone 1', 'clone 2'];

test('writes notes, the logs of all containers, and the end', async () => {
  const log = new FakeLog();
  const { session, ended } = startSession(log);
  await session.note('start', note('build 1'));
  await session.note('start', note('build 1'));
  await drained(session);
  await session.end('succeeded', '');
  expect([...log.messages].sort()).toEqual(
    [...containers.slice(0, 2), 'build 1', ...containers.slice(2), 'end: succeeded'].sort(),
  );
  expect(log.messages.at(-1)).toBe('end: succeeded');
  expect(ended).toEqual(['ended']);
});

test.each([
  ['the end is written', (session: LogSession) => session.end('failed', '')],
  ['a line is noted', (session: LogSession) => session.note('images', note('all images'))],
])('writes everything again when %s and Redis has lost it', async (_, write) => {
  const log = new FakeLog();
  const { session } = startSession(log);
  await session.note('start', note('build 1'));
  await drained(session);
  log.lose();
  await write(session);
  await drained(session);
  expect(log.messages[0]).toBe('build 1');
  expect(log.messages.filter((line) => containers.includes(line)).sort()).toEqual(containers);
  expect(log.messages.filter((line) => /^end: failed|^all images/.test(line))).toHaveLength(1);
});

test('writes it again also when a container continues', async () => {
  const log = new FakeLog();
  const { session } = startSession(log);
  await session.note('start', note('build 1'));
  log.lose();
  await drained(session);
  expect(log.messages[0]).toBe('build 1');
  expect(log.messages.slice(1).sort()).toEqual(containers);
});

test('does not delay a build while Redis is silent, and writes everything once it responds', async () => {
  const log = new FakeLog();
  const { session, ended } = startSession(log);
  let answer: () => void = () => undefined;
  log.silence = new Promise((resolve) => (answer = resolve));
  await session.note('start', note('build 1'));
  await session.end('succeeded', '');
  expect([log.messages, ended]).toEqual([[], []]);
  answer();
  while (ended.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(log.messages).toEqual(['build 1', 'end: succeeded']);
});

test('adds the output of a service once, and again after it was lost', async () => {
  const log = new FakeLog();
  const { session } = startSession(log);
  const lines = [note('one'), note('two')];
  await session.keep('web-1/web/1', lines);
  await session.keep('web-1/web/1', lines);
  expect(log.messages).toEqual(['one', 'two']);
  log.lose();
  await session.note('later', note('later'));
  expect(log.messages).toEqual(expect.arrayContaining(['one', 'two', 'later']));
});
