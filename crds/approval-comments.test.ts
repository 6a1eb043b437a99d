import { expect, test } from '@jest/globals';
import { commentNote, notedComments } from './approval-comments.ts';

const comment = { pullRequest: 7, comment: '4711', author: '12' };

test('returns the comment that an annotation records', () => {
  const [annotation, value] = commentNote(comment, new Date('2026-01-01T00:00:00Z'), 'id');
  expect([annotation, value]).toEqual(['coppice.dev/approval-comment-7-12', '2026-01-01T00:00:00.000Z/id/4711']);
  expect(notedComments({ [annotation]: value, other: 'x' })).toEqual([{ ...comment, annotation }]);
});

test.each([
  ['coppice.dev/approval-comment-7', 'now/id/1'],
  ['coppice.dev/approval-comment-0-12', 'now/id/1'],
  ['coppice.dev/approval-comment-7-x', 'now/id/1'],
  ['coppice.dev/approval-comment-7-12', 'now/id'],
  ['coppice.dev/approval-comment-7-12', 'now/id/../x'],
])('ignores the malformed %s: %s', (annotation, value) => {
  expect(notedComments({ [annotation]: value })).toEqual([]);
});
