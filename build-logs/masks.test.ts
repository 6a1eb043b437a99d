import { expect, test } from '@jest/globals';
import { maskLines } from './mask.ts';
import { Masks } from './masks.ts';

const long = (character: string) => [`${character}-secret `.repeat(30_000)];

test('keeps the masks that were used last, as far as their secrets are not too long together', async () => {
  const masks = new Masks();
  const first = await masks.find('one', long('a'));
  expect(await masks.find('one', long('a'))).toBe(first);
  await masks.find('two', long('b'));
  const second = await masks.find('one', long('a'));
  expect(second).not.toBe(first);

  const small = (index: number) => masks.find(`small ${index}`, [`the secret ${index}`]);
  for (let index = 0; index < 63; index++) await small(index);
  expect(await masks.find('one', long('a'))).toBe(second);
  const recent = await small(62);
  for (let index = 63; index < 126; index++) await small(index);
  expect(await small(62)).toBe(recent);
  expect(await masks.find('one', long('a'))).not.toBe(second);
});

test('makes another mask for other secrets', async () => {
  const masks = new Masks();
  await masks.find('one', ['first-secret']);
  expect(maskLines(await masks.find('one', ['other-secret']), 'first-secret other-secret')).toBe('first-secret ***');
});

test('makes a mask of many large secrets while other work continues', async () => {
  const masks = new Masks();
  const lines = (file: number) => Array.from({ length: 1500 }, (_, index) => `${file}${index * 7919}-line`).join('\n');
  const secrets = Array.from({ length: 8 }, (_, index) => lines(index));
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const making = masks.find('large', secrets);
  const small = await masks.find('small', ['the secret']);
  expect([small('the secret').line, ticks]).toEqual(['***', 0]);
  const mask = await making;
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(20);
  expect(maskLines(mask, `a ${secrets[0]?.split('\n')[5] ?? ''} z`)).toBe('a *** z');
});
