import { expect, test } from '@jest/globals';
import { pendingRequests, requestAnnotation, requestedTtlSeconds, requestValue } from './requests.ts';

const early = requestValue(new Date('2026-01-01T00:00:00Z'), 'a');
const late = requestValue(new Date('2026-01-01T00:00:01Z'), 'b');

test('only requests that were not handled, oldest first', () => {
  const annotations = {
    [requestAnnotation('create')]: late,
    [requestAnnotation('delete')]: early,
    [requestAnnotation('build')]: early,
    unrelated: 'x',
  };
  expect(pendingRequests(annotations, { build: early }).map((request) => request.name)).toEqual(['delete', 'create']);
});

test('a value without a time is a request all the same', () => {
  expect(pendingRequests({ [requestAnnotation('build')]: 'now' }, undefined)).toEqual([
    { name: 'build', value: 'now', at: 0 },
  ]);
});

test.each([
  ['2026-01-01T00:00:00.000Z/abc/3600', 3600],
  ['2026-01-01T00:00:00.000Z/abc/0', 0],
  ['2026-01-01T00:00:00.000Z/abc', undefined],
  ['x/99999999999', undefined],
])('requestedTtlSeconds(%j)', (value, expected) => {
  expect(requestedTtlSeconds(value)).toBe(expected);
});
