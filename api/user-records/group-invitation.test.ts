import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import type { Group } from '../../crds/group.ts';
import { canSee } from '../auth/visibility.ts';
import {
  acceptance,
  invitedUntil,
  inviteToGroup,
  invitingGroup,
  isInvited,
  openInvitation,
  withdrawInvitation,
} from './group-invitation.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const day = 24 * 3600 * 1000;
const email = 'bob@x.example';
const ada = { email: 'ada@example.com', accountId: 'a' };
const bob = { name: 'user-1', accountId: 'b', email, verified: false };

function groupOf(annotations: Record<string, string>, members = ['alice@x.example', email], name = 'acme'): Group {
  return { apiVersion: GROUP_VERSION, kind: 'Group', metadata: { name, annotations }, spec: { members } };
}

describe('an invitation', () => {
  const { invitation, expiresAt, annotations } = inviteToGroup(groupOf({}), email, ada, now, randomBytes);

  test('names its group, is valid for a week, and is stored as a hash', () => {
    expect(invitingGroup(invitation)).toBe('acme');
    expect(expiresAt).toBe('2026-01-09T00:00:00.000Z');
    expect(JSON.stringify(annotations)).not.toContain(invitation.split('.')[2]);
    expect(Object.keys(annotations)[0]).toMatch(/^invitations\.coppice\.dev\/[a-z0-9-]{1,63}$/);
  });

  test.each<[string, Group, string, string, number, boolean]>([
    ['can be accepted', groupOf(annotations), email, invitation, now, true],
    ['to its last moment', groupOf(annotations), email, invitation, now + 7 * day - 1, true],
    ['not later', groupOf(annotations), email, invitation, now + 7 * day, false],
    ['not by another address', groupOf(annotations), 'alice@x.example', invitation, now, false],
    ['not with another one', groupOf(annotations), email, `${invitation.slice(0, -4)}AAAA`, now, false],
    ['not by who is not a member any more', groupOf(annotations, ['alice@x.example']), email, invitation, now, false],
    ['not where it is not', groupOf({}), email, invitation, now, false],
    ['not twice', groupOf({ ...annotations, ...acceptance(bob) }), email, invitation, now, false],
    [
      'not where somebody wrote nonsense',
      groupOf({ [Object.keys(annotations)[0] ?? '']: '{' }),
      email,
      invitation,
      now,
      false,
    ],
  ])('%s', (_name, group, by, given, at, expected) => {
    expect(isInvited(group, by, given, at)).toBe(expected);
  });

  test('shows who invites whom to whoever has its text, while it can be accepted', () => {
    const open = groupOf(annotations);
    expect(openInvitation(open, invitation, now)).toEqual({ email, by: ada, expiresAt });
    expect(openInvitation(open, invitation, now + 7 * day)).toBeUndefined();
    expect(openInvitation(open, `${invitation.slice(0, -4)}AAAA`, now)).toBeUndefined();
    expect(openInvitation(groupOf(acceptance(bob)), invitation, now)).toBeUndefined();
    expect([invitedUntil(open, email), invitedUntil(open, 'alice@x.example')]).toEqual([expiresAt, undefined]);
    expect(invitedUntil(groupOf(acceptance(bob)), email)).toBeUndefined();
  });

  test('opens its group only to the account that accepted it', () => {
    const accepted = groupOf(acceptance(bob));
    expect(canSee(bob, groupOf(annotations))).toBe(false);
    expect(canSee(bob, accepted)).toBe(true);
    expect(canSee({ ...bob, accountId: 'another of that address' }, accepted)).toBe(false);
    expect(canSee(bob, groupOf(acceptance(bob), ['alice@x.example']))).toBe(false);
    expect(Object.keys(withdrawInvitation(email))).toEqual(Object.keys(annotations));
  });
});

test.each(['', 'a.acme.x', 'g.Acme.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'g.acme.short'])(
  'does not read %j as an invitation to a group',
  (text) => {
    expect(invitingGroup(text)).toBeUndefined();
  },
);
