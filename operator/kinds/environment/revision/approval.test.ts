import { describe, expect, test } from '@jest/globals';
import { MAX_APPROVALS } from '../../../../crds/environment.ts';
import type { GitRef } from '../../../../crds/git-ref.ts';
import { requestAnnotation } from '../../../../crds/requests.ts';
import { ApprovalMissing, isApproved, needsApproval, withRequestedApproval, withWaiting } from './approval.ts';

const [first, second] = ['a'.repeat(40), 'b'.repeat(64)];
const now = new Date('2026-01-01T00:00:00.000Z');
const at = now.toISOString();

test.each<[GitRef['type'], boolean | undefined, boolean, boolean]>([
  ['branch', undefined, true, false],
  ['tag', true, true, false],
  ['pull request', false, true, false],
  ['pull request', true, true, true],
  ['pull request', undefined, true, true],
  ['pull request', true, false, false],
])('of a %s, from a fork: %p, required: %p, decides %p', (type, fromFork, isRequired, expected) => {
  const forkApproval = { isRequired, byComment: false };
  expect(needsApproval({ name: '7', type }, { forkApproval }, { fromFork })).toBe(expected);
});

describe('a request', () => {
  const request = (value: string) => ({ [requestAnnotation('approve')]: value });
  const before = { waitingCommit: first, request: 'handled', commits: [{ commit: second, at: 'before' }] };

  test('adds the approved commit, with who approved it', () => {
    const value = `now/id/${first}/ann/of/acme`;
    expect(withRequestedApproval(before, request(value), now).approval).toEqual({
      ...{ waitingCommit: first, request: value },
      commits: [
        { commit: first, by: 'ann/of/acme', at },
        { commit: second, at: 'before' },
      ],
    });
  });

  test('of an approved commit replaces its approval, and the oldest are dropped', () => {
    const many = Array.from({ length: MAX_APPROVALS }, (_, index) => ({ commit: `${index}`.repeat(40), at: 'before' }));
    const { approval } = withRequestedApproval({ commits: many }, request(`now/id/${first}`), now);
    expect(approval?.commits).toEqual([{ commit: first, at }, ...many.slice(0, -1)]);
    const again = withRequestedApproval(approval, request(`later/id/${first}/ann`), now).approval;
    expect(again?.commits).toEqual([{ commit: first, by: 'ann', at }, ...many.slice(0, -1)]);
  });

  test.each([
    ['that was handled', 'handled'],
    ['with a prefix of a commit', `now/id/${first.slice(0, 12)}/ann`],
    ['with a branch', 'now/id/main/ann'],
    ['in upper case', `now/id/${first.toUpperCase()}/ann`],
    ['without a commit', 'now'],
    ['that is too long', `now/id/${first}/${'x'.repeat(500)}`],
  ])('%s approves nothing', (_what, value) => {
    expect(withRequestedApproval(before, request(value), now)).toEqual({ approval: before });
  });
});

test('approves exactly the commits that are listed', () => {
  expect([isApproved({ commits: [{ commit: first, at }] }, first), isApproved(undefined, first)]).toEqual([
    true,
    false,
  ]);
  expect(isApproved({ commits: [{ commit: first, at }], waitingCommit: second }, second)).toBe(false);
});

test('records the commit that waits, and leaves nothing when none does', () => {
  expect(withWaiting(undefined, first)).toEqual({ waitingCommit: first });
  expect(withWaiting({ waitingCommit: first }, undefined)).toBeUndefined();
  expect(withWaiting({ waitingCommit: first, request: 'x' }, undefined)).toEqual({ request: 'x' });
  expect(withWaiting(undefined, undefined)).toBeUndefined();
});

test('reports how to approve a commit, by a comment only where the host reports who can write', () => {
  const message = (byComment: boolean) =>
    new ApprovalMissing(first, {
      id: { group: 'acme', name: 'shop-pr-7' },
      forkApproval: { isRequired: true, byComment },
    }).message;
  expect(message(false)).toContain(`in the panel or with \`coppice env approve acme.shop-pr-7 ${first}\``);
  expect(message(false)).not.toContain('comment');
  expect(message(true)).toContain(`by the comment \`/coppice approve ${first}\``);
});
