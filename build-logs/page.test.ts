import { describe, expect, test } from '@jest/globals';
import { encodeChunks, MAX_CHUNK_BYTES } from './chunks.ts';
import { decodeMessages, type UnnumberedMessage } from './message.ts';
import { LogPage } from './page.ts';

const time = '2026-11-21T10:00:00.123456789Z';
const line = (text: string): UnnumberedMessage => ({ time, service: 'web', stage: 'build', line: text });
const end: UnnumberedMessage = { time, end: { result: 'superseded', message: 'a newer commit' } };

function pageOf(first: number, ...messages: UnnumberedMessage[]): LogPage {
  return new LogPage(
    Buffer.from(
      encodeChunks(first, messages)
        .map(({ text }) => text)
        .join('\n'),
    ),
  );
}

test('reads back the stored messages', () => {
  const messages = [line('ein\u2028e "Zeile" \ud800\n\\'), line(''), end];
  expect(pageOf(7, ...messages).messages()).toEqual(messages.map((message, index) => ({ seq: 7 + index, ...message })));
});

test.each(['', '{', '{"time":1}', '{"seq":1}', '[]', 'null'])('refuses the page %j', (text) => {
  expect(() => new LogPage(Buffer.from(text))).toThrow('not a valid message');
});

test('distinguishes an end message from a line that looks like one', () => {
  expect(pageOf(1, line('a'), end)).toMatchObject({ first: 1, last: 2, isEnd: true });
  expect(pageOf(1, line('{"seq":9,"time":"x","end":')).isEnd).toBe(false);
});

describe('after', () => {
  const page = pageOf(10, line('a'), line('b'), line('c'));
  test.each([
    [0, [10, 11, 12]],
    [9, [10, 11, 12]],
    [10, [11, 12]],
    [11, [12]],
  ])('%i: %j', (seq, seqs) => {
    expect(
      page
        .after(seq)
        ?.messages()
        .map((message) => message.seq),
    ).toEqual(seqs);
  });
  test('returns nothing after the last one', () => {
    expect([page.after(12), page.after(99)]).toEqual([undefined, undefined]);
  });
});

describe('chunks and frames', () => {
  const mixed = Array.from({ length: 3000 }, (_, index) => line('ä'.repeat((index * 37) % 400)));
  mixed.splice(1000, 0, line('\u0001'.repeat(16_000)));

  test.each([
    ['chunks', (): string[] => encodeChunks(1, mixed).map(({ text }) => text)],
    [
      'frames',
      (): string[] =>
        pageOf(1, ...mixed)
          .frames()
          .map(String),
    ],
  ])('contain whole messages in order, and only a long message exceeds the size: %s', (_, make) => {
    const parts = make();
    expect(parts.flatMap(decodeMessages).map(({ seq }) => seq)).toEqual(mixed.map((_message, index) => index + 1));
    const large = parts.filter((part) => Buffer.byteLength(part) > MAX_CHUNK_BYTES);
    expect(large.map((part) => decodeMessages(part).length)).toEqual([1]);
    expect(parts.length).toBeLessThan(40);
  });

  test('are named after their last message', () => {
    for (const { last, text } of encodeChunks(5, mixed)) expect(decodeMessages(text).at(-1)?.seq).toBe(last);
  });

  test('are created once', () => {
    const page = pageOf(1, line('a'));
    expect(page.frames()).toBe(page.frames());
  });
});
