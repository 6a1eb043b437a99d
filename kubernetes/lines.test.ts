import { expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { readLines } from './lines.ts';

async function* chunksOf(bytes: Buffer, sizes: number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function linesOf(text: string, sizes: number[] = [], maxBytes?: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(chunksOf(Buffer.from(text), sizes), maxBytes)) lines.push(line);
  return lines;
}

test.each([
  ['', []],
  ['a\nb\n', ['a', 'b']],
  ['a\n\nb', ['a', '', 'b']],
  ['a\r\n', ['a\r']],
])('%j', async (text, lines) => {
  expect(await linesOf(text)).toEqual(lines);
});

test('splits the same lines however the bytes are cut', async () => {
  const cuts = fc.array(fc.integer({ min: 0, max: 5 }));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' })), cuts, async (parts, sizes) => {
      const text = parts.map((part) => part.replaceAll('\n', '')).join('\n');
      expect(await linesOf(`${text}\n`, sizes)).toEqual(text.split('\n'));
    }),
  );
});

test('splits a line that is too long between characters', async () => {
  const pieces = await linesOf('äöüäöü', [5, 3], 3);
  expect(pieces.join('')).toBe('äöüäöü');
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) expect(piece).not.toContain('\ufffd');
});

test('omits a last line without a line break if only complete lines are wanted', async () => {
  const lines: string[] = [];
  for await (const line of readLines(chunksOf(Buffer.from('whole\nhal'), [3]), Infinity, true)) lines.push(line);
  expect(lines).toEqual(['whole']);
});

test('does not return a last line that a failure cut as complete', async () => {
  const lines: string[] = [];
  async function* broken() {
    yield Buffer.from('whole\nhal');
    throw new Error('cut');
  }
  const read = async () => {
    for await (const line of readLines(broken())) lines.push(line);
  };
  await expect(read()).rejects.toThrow('cut');
  expect(lines).toEqual(['whole']);
});
