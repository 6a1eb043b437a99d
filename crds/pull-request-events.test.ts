import { expect, test } from '@jest/globals';
import { noteOf, notedPullRequests } from './pull-request-events.ts';

const now = new Date('2026-01-01T00:00:00Z');

test('reads back a recorded event', () => {
  const opened = noteOf({ number: 12, isOpen: true }, now, 'a');
  const closed = noteOf({ number: 3, isOpen: false }, now, 'b');
  expect(notedPullRequests(Object.fromEntries([opened, closed, ['other', 'x/open']]))).toEqual([
    { number: 3, isOpen: false, annotation: 'coppice.dev/pull-request-3', value: '2026-01-01T00:00:00.000Z/b/closed' },
    { number: 12, isOpen: true, annotation: 'coppice.dev/pull-request-12', value: '2026-01-01T00:00:00.000Z/a/open' },
  ]);
});

test.each([
  ['coppice.dev/pull-request-0', 'x/open'],
  ['coppice.dev/pull-request-', 'x/open'],
  ['coppice.dev/pull-request-1', 'merged'],
  ['coppice.dev/pull-request-1x', 'x/open'],
])('ignores %s: %s', (annotation, value) => {
  expect(notedPullRequests({ [annotation]: value })).toEqual([]);
});
