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

test('reads back the facts of an open one, and of malformed ones what is valid', () => {
  const facts = { labels: ['a/open', 'Größe "M"'], targetBranch: 'main', isDraft: false };
  const noted = (event: Parameters<typeof noteOf>[0]) =>
    notedPullRequests(Object.fromEntries([noteOf(event, now, 'a')]));
  expect(noted({ number: 1, isOpen: true, facts })).toMatchObject([{ isOpen: true, facts }]);
  expect(noted({ number: 1, isOpen: false, facts })[0]).not.toHaveProperty('facts');
  const read = (value: string) => notedPullRequests({ 'coppice.dev/pull-request-1': value });
  expect(read('x/open {"labels":[1],"isDraft":true}')).toMatchObject([{ facts: { isDraft: true } }]);
  expect(read('x/open {"labels"}')[0]).not.toHaveProperty('facts');
});

test.each([
  ['coppice.dev/pull-request-0', 'x/open'],
  ['coppice.dev/pull-request-', 'x/open'],
  ['coppice.dev/pull-request-1', 'merged'],
  ['coppice.dev/pull-request-1x', 'x/open'],
])('ignores %s: %s', (annotation, value) => {
  expect(notedPullRequests({ [annotation]: value })).toEqual([]);
});
