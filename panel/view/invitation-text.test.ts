import { expect, test } from '@jest/globals';
import { givenInvitation, invitationIn, invitationPage, registerPage, signInPage } from '../api/paths.ts';
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
  [' https://coppice.example/register#invitation=g.acme.abc ', 'g.acme.abc'],
  [' https://coppice.example/register?invitation=g.acme.abc ', 'g.acme.abc'],
  ['https://coppice.example/register?return=%2F&invitation=a.b-c#x', 'a.b-c'],
  ['/invitation#invitation=g.acme.a%2Dc', 'g.acme.a-c'],
  ['/register?invitation=%E0%A4%A', '%E0%A4%A'],
  [' %', '%'],
])('reads the invitation in %s', (text, expected) => {
  expect(invitationIn(text)).toBe(expected);
});

test.each([
  [{}, '#invitation=g.acme.a%2Dc', 'g.acme.a-c'],
  [{ invitation: 'g.acme.b' }, '#invitation=g.acme.a', 'g.acme.a'],
  [{ invitation: 'g.acme.a', return: '/invitation?invitation=g.acme.b' }, '', 'g.acme.a'],
  [{ return: '/invitation?invitation=g.acme.b' }, '#top', 'g.acme.b'],
  [{ return: '/groups/acme?invitation=g.acme.b' }, '', undefined],
  [{}, '#invitation=%E0%A4%A', '\ufffd%A'],
  [{}, '', undefined],
])('finds the invitation of a page: %j, %s', (query, hash, expected) => {
  expect(givenInvitation(query, hash)).toBe(expected);
});

test('addresses of an invitation have it in the fragment, which browsers do not send', () => {
  for (const page of [invitationPage, registerPage, signInPage]) {
    const { search, hash } = new URL(page('g.acme.a+c'), 'http://panel.invalid');
    expect([search, givenInvitation({}, hash)]).toEqual(['', 'g.acme.a+c']);
  }
});
