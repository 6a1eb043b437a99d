import { expect, test } from '@jest/globals';
import { LineFlusher } from './line-flusher.ts';

/** A flusher whose first write takes until `release` is called. */
function heldFlusher() {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const written: string[][] = [];
  const write = async (lines: string[]) => {
    written.push(lines);
    await promise;
  };
  return { flusher: new LineFlusher<string>(write, (line) => line), written, release: () => resolve(undefined) };
}

test('writes what is added meanwhile as the next batch', async () => {
  const { flusher, written, release } = heldFlusher();
  await flusher.add('one');
  await Promise.resolve();
  expect(flusher.add('two')).toBeUndefined();
  expect(flusher.add('three')).toBeUndefined();
  release();
  await flusher.finish();
  expect(written).toEqual([['one'], ['two', 'three']]);
});

test.each([
  ['10,000 lines', '', 10_000],
  ['4 Mi characters', 'x'.repeat(64 * 1024), 64],
])('makes the reader wait when %s are unwritten', async (_what, line, max) => {
  const { flusher, release } = heldFlusher();
  for (let count = 1; count < max; count++) expect(flusher.add(line)).toBeUndefined();
  const wait = flusher.add(line);
  expect(wait).toBeDefined();
  release();
  await wait;
  expect(flusher.add(line)).toBeUndefined();
  await flusher.finish();
});

test('accepts no lines after a failed write', async () => {
  const failure = new Error('lost');
  const flusher = new LineFlusher<string>(
    () => Promise.reject(failure),
    (line) => line,
  );
  await flusher.add('one');
  await expect(flusher.finish()).rejects.toBe(failure);
  expect(() => flusher.add('two')).toThrow(failure);
});
