import { expect, test } from '@jest/globals';
import { LiveBuffer } from './live-buffer.ts';
import { type BuildLogMessage, decodeMessage, encodeMessage, MESSAGE_FIELD } from './message.ts';

const message = (seq: number, line = ''): BuildLogMessage => ({
  seq,
  time: '2026-11-21T10:00:00.123456789Z',
  service: '',
  stage: 'build',
  line,
});
const seqs = (messages: BuildLogMessage[]): number[] => messages.map(({ seq }) => seq);

test.each([
  ['what follows is given', 2, [[3, 4], [5]], [3, 4, 5]],
  ['what was seen is left out', 4, [[3, 4], [5]], [5]],
  ['past a gap nothing is given', 1, [[3, 4]], []],
  ['nothing came', 1, [], []],
])('%s', (_, last, batches, taken) => {
  const buffer = new LiveBuffer();
  for (const batch of batches) buffer.push(batch.map((seq) => message(seq)));
  expect(seqs(buffer.take(last))).toEqual(taken);
  expect(buffer.take(last)).toEqual([]);
});

test.each([
  ['many messages', 1, 6000],
  ['long messages', 16 * 1024, 70],
])('%s overflow it: nothing is given, and what comes afterwards is kept again', (_, length, count) => {
  const buffer = new LiveBuffer();
  for (let seq = 1; seq <= count; seq++) buffer.push([message(seq, 'x'.repeat(length))]);
  expect(buffer.take(0)).toEqual([]);
  buffer.push([message(count + 1)]);
  expect(seqs(buffer.take(count))).toEqual([count + 1]);
});

test('a push lets the reader that waits, or that will wait, go on', async () => {
  const buffer = new LiveBuffer();
  const { signal } = new AbortController();
  buffer.push([message(1)]);
  await buffer.arrived.wait(60_000, signal);
  const waiting = buffer.arrived.wait(60_000, signal);
  buffer.push([message(2)]);
  await waiting;
  await buffer.arrived.wait(60_000, AbortSignal.abort());
});

test.each<BuildLogMessage>([
  message(7, 'ein\u2028e "Zeile" \ud800'),
  { seq: 8, time: '2026-11-21T10:00:00Z', end: { result: 'superseded', message: 'a newer commit' } },
])('a message is the same after it was stored', (original) => {
  const { seq, ...stored } = original;
  expect(decodeMessage({ id: `${seq}-0`, message: { [MESSAGE_FIELD]: encodeMessage(stored) } })).toEqual(original);
});

test.each([{}, { m: '{' }, { m: '{"time":1}' }, { m: '[]' }, { m: 'null' }])('%j is no message', (stored) => {
  expect(() => decodeMessage({ id: '1-0', message: stored as Record<string, string> })).toThrow('the entry 1-0');
});
