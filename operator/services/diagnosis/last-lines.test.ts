import { expect, test } from '@jest/globals';
import { errorLine, lastLines } from './last-lines.ts';

test('returns the last lines', () => {
  expect(lastLines('a\nb\nc\n\n', 2)).toBe('b\nc');
  expect(lastLines('', 2)).toBe('');
});

test('omits the line that the kubelet has cut, because half a secret is not masked', () => {
  const kept = `cret-value\n${'x'.repeat(2040)}`;
  expect(lastLines(kept, 5)).toBe('x'.repeat(2040));
  expect(lastLines(`cret ${'x'.repeat(2045)}`, 5)).toBe('x'.repeat(2045));
  expect(lastLines('x'.repeat(4000), 5)).toBe('');
});

test.each([
  [
    "throw new Error('no file');\n      ^\n\nError: no file\n    at file:///server.mjs:3:7\n\nNode.js v24",
    'Error: no file',
  ],
  ['TypeError [ERR_INVALID_ARG_TYPE]: wrong\n    at x', 'TypeError [ERR_INVALID_ARG_TYPE]: wrong'],
  ['Traceback (most recent call last):\n  File "a.py"\nValueError: 12', 'ValueError: 12'],
  [
    'Exception in thread "main" java.lang.IllegalStateException: full\n\tat App.main',
    'Exception in thread "main" java.lang.IllegalStateException: full',
  ],
  ['panic: runtime error: index out of range\n\ngoroutine 1 [running]:', 'panic: runtime error: index out of range'],
  [
    'LOG:  starting\n2026-01-01 FATAL:  data directory has wrong ownership\nHINT: chown',
    '2026-01-01 FATAL:  data directory has wrong ownership',
  ],
  ['2026/01/01 [emerg] 1#1: host not found\nbye', '2026/01/01 [emerg] 1#1: host not found'],
  ['terrors: none\nready', undefined],
])('finds the error in %j', (lines, expected) => {
  expect(errorLine(lines)).toBe(expected);
});
