import { describe, expect, test } from '@jest/globals';
import type { Group } from '../../crds/group.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { Conflict, Forbidden, NotFound } from '../shared/errors.ts';
import { ownersOf, requireOwner, withMember, withoutMember, withRole, type Accounts } from './roles.ts';

const [ann, bob, cid] = ['ann@x.example', 'bob@x.example', 'cid@x.example'] as const;

function group(members: string[], owners?: string[], creator?: string): Group {
  const annotations: Record<string, string> = creator === undefined ? {} : { [ANNOTATIONS.createdBy]: creator };
  return {
    apiVersion: 'v',
    kind: 'Group',
    metadata: { name: 'acme', annotations },
    spec: { members, ...(owners && { owners }) },
  };
}

/** Everybody except the absent has an account and sees the group. */
function accounts(...absent: string[]): Accounts {
  const isThere = (email: string) => !absent.includes(email);
  return {
    accountIdOf: (email) => (isThere(email) ? `account of ${email}` : undefined),
    isSeenBy: (_group, email) => isThere(email),
  };
}

describe('the owners of a group', () => {
  test.each<[string, Group, string[]]>([
    ['are those that its spec names', group([ann, bob], [bob]), [bob]],
    ['are members: others that are named do not count', group([ann, bob], [cid, bob]), [bob]],
    ['are its creator, when none is named', group([ann, bob], undefined, `account of ${bob}`), [bob]],
    ['are its creator, when the named ones have left', group([ann, bob], [cid], `account of ${ann}`), [ann]],
    ['are all members, when its creator has left', group([ann, bob], undefined, 'account of nobody'), [ann, bob]],
    ['are all members of a GitOps group that names none', group([ann, bob]), [ann, bob]],
    ['are all members, where the list is empty', group([ann, bob], []), [ann, bob]],
    ['are none in a group without members', group([], [ann], `account of ${ann}`), []],
  ])('%s', (_what, of, expected) => {
    expect(ownersOf(of, accounts())).toEqual(expected);
  });

  test("do not include whoever registered the creator's address later: the account counts", () => {
    const of = group([ann, bob], undefined, 'account of before');
    expect(ownersOf(of, accounts())).toEqual([ann, bob]);
  });
});

type Outcome = string[] | typeof Conflict | typeof Forbidden | typeof NotFound;

function expectOutcome(change: () => { owners: string[] }, outcome: Outcome): void {
  if (Array.isArray(outcome)) expect(change().owners).toEqual(outcome);
  else expect(change).toThrow(outcome);
}

describe('a new member', () => {
  test.each<[string, Group, string, 'owner' | 'member', Outcome]>([
    ['is not an owner', group([ann], [ann]), ann, 'member', [ann]],
    ['is not an owner of a group of before either', group([ann], undefined, `account of ${ann}`), ann, 'member', [ann]],
    ['is not an owner where all others are', group([ann, bob]), ann, 'member', [ann, bob]],
    ['is an owner where an owner says so', group([ann], [ann]), ann, 'owner', [ann, cid]],
    ['is not an owner where a member says so', group([ann, bob], [ann]), bob, 'owner', Forbidden],
    ['is added by any member', group([ann, bob], [ann]), bob, 'member', [ann]],
    ['do not include a former member who is still named', group([ann], [ann, cid]), ann, 'member', [ann]],
    ['is a member already', group([ann, cid], [ann]), ann, 'member', Conflict],
  ])('%s', (_what, of, actor, role, outcome) => {
    expectOutcome(() => withMember(of, actor, cid, role, accounts()), outcome);
  });
});

describe('removing a member', () => {
  test.each<[string, Group, string, string, Accounts, Outcome]>([
    ['a member, by an owner', group([ann, bob], [ann]), ann, bob, accounts(), [ann]],
    ['a member, by a member', group([ann, bob, cid], [ann]), bob, cid, accounts(), [ann]],
    ['oneself, as a member', group([ann, bob], [ann]), bob, bob, accounts(), [ann]],
    ['an owner, by a member', group([ann, bob, cid], [ann, cid]), bob, ann, accounts(), Forbidden],
    [
      'the creator of the group, by a member',
      group([ann, bob], undefined, `account of ${ann}`),
      bob,
      ann,
      accounts(),
      Forbidden,
    ],
    ['an owner, by another', group([ann, bob], [ann, bob]), bob, ann, accounts(), [bob]],
    ['oneself, as one of two owners', group([ann, bob], [ann, bob]), ann, ann, accounts(), [bob]],
    ['oneself, as the last owner', group([ann, bob], [ann]), ann, ann, accounts(), Conflict],
    [
      'oneself, when the other owner never registered',
      group([ann, bob, cid], [ann, bob]),
      ann,
      ann,
      accounts(bob),
      Conflict,
    ],
    ['oneself, as the last member', group([ann], [ann]), ann, ann, accounts(), []],
    ['who is not a member', group([ann], [ann]), ann, bob, accounts(), NotFound],
  ])('%s', (_what, of, actor, email, who, outcome) => {
    expectOutcome(() => withoutMember(of, actor, email, who), outcome);
  });
});

describe('the role of a member', () => {
  test.each<[string, Group, string, string, 'owner' | 'member', Accounts, Outcome]>([
    ['is given by an owner', group([ann, bob], [ann]), ann, bob, 'owner', accounts(), [ann, bob]],
    ['is given twice', group([ann, bob], [ann, bob]), ann, bob, 'owner', accounts(), [ann, bob]],
    ['is not taken by a member', group([ann, bob], [ann]), bob, bob, 'owner', accounts(), Forbidden],
    ['is not taken from an owner by a member', group([ann, bob], [ann]), bob, ann, 'member', accounts(), Forbidden],
    ['is taken from an owner by another', group([ann, bob], [ann, bob]), bob, ann, 'member', accounts(), [bob]],
    ['is given up where another owner is', group([ann, bob], [ann, bob]), ann, ann, 'member', accounts(), [bob]],
    ['is kept by the last owner', group([ann, bob], [ann]), ann, ann, 'member', accounts(), Conflict],
    [
      'is refused when the other owner never registered',
      group([ann, bob], [ann, bob]),
      ann,
      ann,
      'member',
      accounts(bob),
      Conflict,
    ],
    ['of all owners of a GitOps group is taken from one', group([ann, bob]), ann, bob, 'member', accounts(), [ann]],
    ['of somebody who is not a member', group([ann], [ann]), ann, bob, 'owner', accounts(), NotFound],
  ])('%s', (_what, of, actor, email, role, who, outcome) => {
    expectOutcome(() => withRole(of, actor, email, role, who), outcome);
  });
});

test('says what to do when the last owner cannot be removed', () => {
  expect(() => withoutMember(group([ann, bob], [ann]), ann, ann, accounts())).toThrow(
    'PATCH /api/group/acme/members/EMAIL {"role": "owner"}',
  );
  expect(() => requireOwner(group([ann, bob], [ann]), bob, 'delete it', accounts())).toThrow(
    'only an owner of the group can delete it',
  );
});
