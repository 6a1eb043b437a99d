import { expect, test } from '@jest/globals';
import { invitationIn } from '../api/paths.ts';
import { inviterText } from './invitation-text.ts';

const email = 'bob@example.com';

test.each([
  [{ email, invitedBy: 'mira@example.com' }, email, 'mira@example.com'],
  [{ email }, email, 'A member (address not verified)'],
  [{ email: 'b…@example.com' }, undefined, 'A member'],
  [{ email: 'b…@example.com' }, 'ada@example.com', 'A member'],
  [{}, undefined, 'A member'],
])('returns who invites: %j, for %s', (invitation, own, expected) => {
  expect(inviterText(invitation, own)).toBe(expected);
});

test.each([
  ['g.acme.abc', 'g.acme.abc'],
  [' https://coppice.example/register?invitation=g.acme.abc ', 'g.acme.abc'],
  ['https://coppice.example/register?return=%2F&invitation=a.b-c#x', 'a.b-c'],
  ['/invitation?invitation=g.acme.a%2Dc', 'g.acme.a-c'],
  ['/register?invitation=%E0%A4%A', '%E0%A4%A'],
  [' %', '%'],
])('reads the invitation in %s', (text, expected) => {
  expect(invitationIn(text)).toBe(expected);
});
