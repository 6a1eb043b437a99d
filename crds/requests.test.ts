import { describe, expect, test } from '@jest/globals';
import {
  malformedRequests,
  nextRequestTime,
  pendingRequests,
  requestAnnotation,
  requestedTtlSeconds,
  requestValue,
} from './requests.ts';

const early = requestValue(new Date('2026-01-01T00:00:00Z'), 'a');
const late = requestValue(new Date('2026-01-01T00:00:01Z'), 'b');

test('returns requests that were not handled, oldest first', () => {
  const annotations = {
    [requestAnnotation('create')]: late,
    [requestAnnotation('delete')]: early,
    [requestAnnotation('build')]: early,
    unrelated: 'x',
  };
  expect(pendingRequests(annotations, { build: early }).map((request) => request.name)).toEqual(['delete', 'create']);
});

test('accepts a request without a time', () => {
  expect(pendingRequests({ [requestAnnotation('build')]: 'now' }, undefined)).toEqual([
    { name: 'build', value: 'now', at: 0 },
  ]);
});

test.each([
  ['2026-01-01T00:00:00.000Z/abc/3600', 3600],
  ['2026-01-01T00:00:00.000Z/abc/0', 0],
  ['2026-01-01T00:00:00.000Z/abc', undefined],
  ['x/99999999999', undefined],
])('returns the TTL that %j requests', (value, expected) => {
  expect(requestedTtlSeconds(value)).toBe(expected);
});

describe('the time of a new request is later than all before', () => {
  const now = new Date('2026-01-01T00:00:00.500Z');
  test.each<[string, Record<string, string>, string]>([
    ['without earlier requests', { unrelated: '2027-01-01T00:00:00Z/x' }, '2026-01-01T00:00:00.500Z'],
    ['of earlier requests', { [requestAnnotation('create')]: early }, '2026-01-01T00:00:00.500Z'],
    ['by a clock that is ahead', { [requestAnnotation('delete')]: late }, '2026-01-01T00:00:01.001Z'],
    [
      'of which the last counts',
      { [requestAnnotation('ttl')]: `${late}/60`, [requestAnnotation('build')]: early },
      '2026-01-01T00:00:01.001Z',
    ],
    ['without a time', { [requestAnnotation('build')]: 'now' }, '2026-01-01T00:00:00.500Z'],
    [
      'at the end of time',
      { [requestAnnotation('build')]: '+275760-09-13T00:00:00.000Z/x' },
      '+275760-09-13T00:00:00.000Z',
    ],
  ])('%s', (_what, annotations, expected) => {
    expect(nextRequestTime(now, annotations).toISOString()).toBe(expected);
  });
});

test.each<[string, Record<string, string>, string[]]>([
  ['a TTL in seconds', { 'coppice.dev/request-ttl': 'now/x/60' }, []],
  ['an annotation of another kind', { 'coppice.dev/rest-request-id': 'x', unrelated: 'x' }, []],
  [
    'a TTL without seconds',
    { 'coppice.dev/request-ttl': '3600' },
    ['coppice.dev/request-ttl has the value 3600, which does not end in /SECONDS'],
  ],
  [
    'an unknown one',
    { 'coppice.dev/request-x': '1' },
    ['coppice.dev/request-x is unknown: known are coppice.dev/request-ttl'],
  ],
  [
    'a long value',
    { 'coppice.dev/request-ttl': 'x'.repeat(70) },
    [`coppice.dev/request-ttl has the value ${'x'.repeat(60)}…, which does not end in /SECONDS`],
  ],
])('reports malformed requests: %s', (_what, annotations, expected) => {
  expect(malformedRequests(['ttl'], annotations)).toEqual(expected);
});

test.each([
  ['2026-01-01T00:00:00Z/id/COMMIT/ann', true],
  ['2026-01-01T00:00:00Z/id/COMMIT', true],
  ['2026-01-01T00:00:00Z/id/abc/ann', false],
  ['COMMIT', false],
])('of an approval %s, the form is right: %s', (value, isRight) => {
  const annotations = { 'coppice.dev/request-approve': value.replace('COMMIT', 'a'.repeat(40)) };
  expect(malformedRequests(['approve'], annotations)).toHaveLength(isRight ? 0 : 1);
});

test('treats all requests as malformed where none is known', () => {
  expect(malformedRequests([], { 'coppice.dev/request-build': 'now' })).toEqual([
    'coppice.dev/request-build is unknown: this kind has no requests',
  ]);
});
