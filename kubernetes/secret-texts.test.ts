import { expect, test } from '@jest/globals';
import { encodeTexts, secretText } from './secret-texts.ts';

test('decodes the texts that it encodes', () => {
  const data = encodeTexts({ a: 'hunter2', b: '', c: 'größer\n' });
  expect(data['a']).toBe('aHVudGVyMg==');
  expect(['a', 'b', 'c', 'd'].map((key) => secretText({ data }, key))).toEqual(['hunter2', '', 'größer\n', undefined]);
  expect(secretText(undefined, 'a')).toBeUndefined();
});
