import { expect, test } from '@jest/globals';
import { approvalCommand, commandedCommit } from './approval-command.ts';

const commit = '0123456789abcdef0123456789abcdef01234567';

test.each([
  [approvalCommand(commit), commit],
  [` /coppice approve ${commit}\r\n`, commit],
  [approvalCommand('a'.repeat(64)), 'a'.repeat(64)],
  [`/coppice approve ${commit.slice(0, 12)}`, undefined],
  [`/coppice approve ${commit} please`, undefined],
  [`please /coppice approve ${commit}`, undefined],
  [`> /coppice approve ${commit}`, undefined],
  [`/coppice approve ${commit}\n\nThanks`, undefined],
  [`\`/coppice approve ${commit}\``, undefined],
  [`/coppice approve  ${commit}`, undefined],
  [`/coppice approve ${commit.toUpperCase()}`, undefined],
  ['/coppice approve', undefined],
  ['', undefined],
])('of the comment %j is the approved commit %s', (comment, expected) => {
  expect(commandedCommit(comment)).toBe(expected);
});
