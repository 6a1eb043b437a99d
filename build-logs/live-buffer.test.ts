import { expect, test } from '@jest/globals';
import { encodeChunks } from './chunks.ts';
import { LiveBuffer } from './live-buffer.ts';
import { LogPage } from './page.ts';

function page(first: number, last: number, line = ''): LogPage {
  const message = { time: '2026-11-21T10:00:00.123456789Z', service: '', stage: 'build', line };
  const chunks = encodeChunks(first, Array<typeof message>(last - first + 1).fill(message));
  return new LogPage(Buffer.from(chunks.map(({ text }) => text).join('\n')));
}

const spans = (pages: LogPage[]): unknown[] => pages.map(({ first, last }) => [first, last]);

test.each([
  [
    'returns the pages that follow',
    2,
    [
      [3, 4],
      [5, 5],
    ],
    [
      [3, 4],
      [5, 5],
    ],
  ],
  [
    'omits messages that were seen',
    4,
    [
      [3, 4],
      [5, 6],
    ],
    [[5, 6]],
  ],
  ['of a page too', 3, [[2, 5]], [[4, 5]]],
  ['past a gap nothing is given', 1, [[3, 4]], []],
  ['when nothing arrived', 1, [], []],
])('%s', (_, last, pages, taken) => {
  const buffer = new LiveBuffer();
  for (const [from = 0, to = 0] of pages) buffer.push(page(from, to));
  expect(spans(buffer.take(last))).toEqual(taken);
  expect(buffer.take(last)).toEqual([]);
});

test('returns nothing after an overflow, and then collects again', () => {
  const buffer = new LiveBuffer();
  for (let seq = 1; seq <= 70; seq++) buffer.push(page(seq, seq, 'x'.repeat(16 * 1024)));
  expect(buffer.take(0)).toEqual([]);
  buffer.push(page(71, 72));
  expect(spans(buffer.take(70))).toEqual([[71, 72]]);
});

test('resumes a reader that waits, or will wait, after a push', async () => {
  const buffer = new LiveBuffer();
  const { signal } = new AbortController();
  buffer.push(page(1, 1));
  await buffer.arrived.wait(60_000, signal);
  const waiting = buffer.arrived.wait(60_000, signal);
  buffer.push(page(2, 2));
  await waiting;
  await buffer.arrived.wait(60_000, AbortSignal.abort());
});
