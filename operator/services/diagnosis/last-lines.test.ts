import { expect, test } from '@jest/globals';
import { lastLines } from './last-lines.ts';

test('gives the last lines', () => {
  expect(lastLines('a\nb\nc\n\n', 2)).toBe('b\nc');
  expect(lastLines('', 2)).toBe('');
});

test('leaves out the line that the kubelet has cut, for half a secret is not masked', () => {
  const kept = `cret-value\n${'x'.repeat(2040)}`;
  expect(lastLines(kept, 5)).toBe('x'.repeat(2040));
  expect(lastLines(`cret ${'x'.repeat(2045)}`, 5)).toBe('x'.repeat(2045));
  expect(lastLines('x'.repeat(4000), 5)).toBe('');
});
