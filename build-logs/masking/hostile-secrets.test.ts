import { describe, expect, test } from '@jest/globals';
import { createMask } from '../mask.ts';
import { MAX_SECRET } from './secret-forms.ts';
import { textsToMask } from './texts-to-mask.ts';

/** Returns the processor time of a call, in milliseconds. */
function timeOf(work: () => unknown): number {
  const { user, system } = process.cpuUsage();
  work();
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / 1000;
}

/** Lines of the same length that differ, of one file. */
function file(lineOf: (index: number) => string): string {
  const { length } = lineOf(0);
  return Array.from({ length: Math.floor(MAX_SECRET / (length + 1)) }, (_, index) => lineOf(index)).join('\n');
}

/** Returns the number in digits of that alphabet. */
function digits(number: number, alphabet: string, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest = Math.floor(rest / alphabet.length)) {
    text = (alphabet[rest % alphabet.length] ?? '') + text;
  }
  return text;
}

const ordinary = file((index) => digits(index * 2_654_435_761, 'abcdefghijklmnopqrstuvwxyz', 15));
const line = 'A'.repeat(16 * 1024);

/** Wide enough for a busy machine; the former code exceeded it many times. */
function limit(time: number): number {
  return 10 * time + 200;
}

describe('mask, of secrets that somebody chose', () => {
  test.each([
    ['equal', () => '"'.repeat(8)],
    ['different', (index: number) => digits(index, '"\'`\\', 8)],
  ])('searches %s lines of quotes at once', (_, lineOf) => {
    const mask = createMask([file(lineOf), '"'.repeat(8)]);
    const quotes = '"'.repeat(4096);
    expect(timeOf(() => mask(quotes))).toBeLessThan(500);
    // Nothing in these is masked, in whichever form they are read.
    const coloured = `x"'\`\u001b[0m`.repeat(30);
    expect(timeOf(() => Array.from({ length: 50 }, () => mask(coloured)))).toBeLessThan(500);
    expect(mask(coloured)).toBe(coloured);
    expect(mask(quotes)).toBe('***');
  });

  test('still masks a whole secret of quotes, and its lines', () => {
    const secret = `${'"'.repeat(8)}\n${"'".repeat(9)}`;
    expect(createMask([secret])(`a ${'"'.repeat(8)}, ${"'".repeat(9)} z`)).toBe('a ***, *** z');
    expect(createMask(['"\'"\''])('a "\'"\' z')).toBe('a *** z');
  });

  test('uses little memory for many short lines', () => {
    const letters = Array.from({ length: 64 }, (_, index) => String.fromCharCode(0xc0 + index)).join('');
    const secret = file((index) => digits(index * 2_654_435_761 * 4099, letters, 8));
    const before = process.memoryUsage().arrayBuffers;
    const mask = createMask([secret]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1024 * 1024);
    const [, , one = ''] = secret.split('\n');
    expect(mask(`${one}, ${Buffer.from(one).toString('base64')}`)).toMatch(/^\*\*\*, \*\*\*\S{0,4}$/);
  });

  test('finds a pattern in a time that no choice of its characters prolongs', () => {
    const expected = timeOf(() => createMask([ordinary.replaceAll('\n', '')])(line));
    const secret = inOneSlot(MAX_SECRET);
    expect(timeOf(() => createMask([secret])(line))).toBeLessThan(limit(expected));
  });

  test('finds parts of base64 in a time that no choice of the secret prolongs', () => {
    const mask = createMask([ordinary]);
    const expected = timeOf(() => mask(line));
    const other = createMask([withOneHash(MAX_SECRET)]);
    expect(timeOf(() => other(line))).toBeLessThan(limit(expected));
  });
});

test.each(['internationalization', 'abcdefgh ', 'äöü'])(
  "examines an account's 4 MiB of variables within two seconds, if they consist of %j",
  (part) => {
    const value = part.repeat((32 * 1024) / part.length);
    const variables = Array.from({ length: 128 }, () => ({ value }));
    expect(textsToMask([{ value }])).toEqual([]);
    expect(timeOf(() => textsToMask(variables))).toBeLessThan(2000);
  },
);

/** Returns a text whose transitions had neighbouring slots in a hash table that others could predict. */
function inOneSlot(length: number): string {
  const last = 2 ** Math.ceil(Math.log2(2 * (length + 1) + 2)) - 1;
  let text = 'a';
  for (let state = 1; state < length; state++) {
    let best = 0;
    let first = Infinity;
    for (let character = 0x61; character <= 0x7a; character++) {
      const mixed = Math.imul(state * 256 + character, 0x9e37_79b1);
      const slot = (mixed ^ (mixed >>> 15)) & last;
      if (slot < first) [best, first] = [character, slot];
    }
    text += String.fromCharCode(best);
  }
  return text;
}

/** Returns a text whose parts in base64 had the hash of a line of A in a polynomial that others could predict. */
function withOneHash(length: number): string {
  const factor = 0x0100_0193;
  const hash = (text: string) => {
    let sum = 0;
    for (let index = 0; index < text.length; index++) sum = (Math.imul(sum, factor) + text.charCodeAt(index)) | 0;
    return sum;
  };
  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index)).join('');
  const pairs = Array.from({ length: 95 ** 2 }, (_, index) => digits(index, printable, 2));
  const halves = Array.from(printable).flatMap((one) => pairs.map((pair) => one + pair));
  const hashes = Int32Array.from(halves, (half) => hash(btoa(half)));
  const byHash = new Map(halves.map((half, index) => [hashes[index], half]));
  const shift = Math.imul(Math.imul(factor, factor), Math.imul(factor, factor));
  const target = hash('AAAAAAAA');
  const blocks = halves.flatMap((half, index) => {
    const rest = byHash.get((target - Math.imul(hashes[index] ?? 0, shift)) | 0);
    return rest === undefined ? [] : [half + rest];
  });
  expect(blocks.length).toBeGreaterThan(100);
  let text = '';
  // Each pair of blocks is another window.
  for (let distance = 0; text.length < length; distance++) {
    for (const [index, block] of blocks.entries()) text += block + (blocks[(index + distance) % blocks.length] ?? '');
  }
  return text.slice(0, length);
}
