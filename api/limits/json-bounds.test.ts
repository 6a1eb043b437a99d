import { expect, test } from '@jest/globals';
import fc from '../../test/properties.ts';
import { beyondJsonBounds } from './json-bounds.ts';

const beyond = (text: string, isUtf8 = true) => beyondJsonBounds(Buffer.from(text), isUtf8);

test.each([
  ['many numbers', `[${'0,'.repeat(20_000)}0]`, 'has more than 20000 values'],
  ['many objects', `[${'{},'.repeat(10_001)}0]`, 'has more than 20000 values'],
  ['many keys', `{${'"a":0,'.repeat(10_001)}"a":0}`, 'has more than 20000 values'],
  ['lists in lists', '['.repeat(40), 'is nested more than 32 levels deep'],
  ['objects in objects', '{"a":'.repeat(40), 'is nested more than 32 levels deep'],
])('refuses %s', (_, text, message) => expect(beyond(text)).toBe(message));

test('counts a text as one value, whatever it contains', () => {
  expect(beyond(JSON.stringify({ text: ',:[{"\\'.repeat(50_000) }))).toBeUndefined();
});

test('counts every byte of other encodings, whose strings are unknown', () => {
  expect(beyond(JSON.stringify(','.repeat(30_000)), false)).toBe('has more than 20000 values');
});

test('accepts every JSON value with few values', () => {
  fc.assert(fc.property(fc.json({ maxDepth: 8 }), (text) => expect(beyond(text)).toBeUndefined()));
});
