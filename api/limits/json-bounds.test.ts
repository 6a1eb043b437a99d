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
])('%s are beyond the bounds', (_, text, message) => expect(beyond(text)).toBe(message));

test('text is one value, whatever is in it', () => {
  expect(beyond(JSON.stringify({ text: ',:[{"\\'.repeat(50_000) }))).toBeUndefined();
});

test('what a string is in another encoding is not known, so all of it counts', () => {
  expect(beyond(JSON.stringify(','.repeat(30_000)), false)).toBe('has more than 20000 values');
});

test('every JSON value of a few values is within the bounds', () => {
  fc.assert(fc.property(fc.json({ maxDepth: 8 }), (text) => expect(beyond(text)).toBeUndefined()));
});
