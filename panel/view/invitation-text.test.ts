import { expect, test } from '@jest/globals';
import { invitationIn } from '../api/paths.ts';
import { invitationText } from './invitation-text.ts';

const group = { id: 'beech', name: 'Beech Team' };

test.each([
  [{ group, invitedBy: 'mira@example.com' }, 'mira@example.com invites you to the group Beech Team.'],
  [{ group }, 'A member invites you to the group Beech Team.'],
  [{}, 'An administrator invites you to Coppice.'],
])('says who invites to what: %j', (invitation, expected) => {
  expect(invitationText(invitation)).toBe(expected);
});

test.each([
  ['g.acme.abc', 'g.acme.abc'],
  [' https://coppice.example/register?invitation=g.acme.abc ', 'g.acme.abc'],
  ['https://coppice.example/register?return=%2F&invitation=a.b-c#x', 'a.b-c'],
])('reads the invitation in %s', (text, expected) => {
  expect(invitationIn(text)).toBe(expected);
});
