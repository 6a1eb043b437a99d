import { expect, test } from '@jest/globals';
import { SharedTexts } from './shared-texts.ts';

test('stores equal texts once, until their last user releases them', () => {
  const texts = new SharedTexts();
  expect([texts.take('a'), texts.take('a'), texts.take('b')]).toEqual(['a', 'a', 'b']);
  expect(texts.size).toBe(2);
  texts.release('a');
  texts.release('b');
  expect(texts.size).toBe(1);
  texts.release('a');
  texts.release('a');
  expect(texts.size).toBe(0);
});
