import { expect, test } from '@jest/globals';
import type { EndedLinks } from '../../crds/ended-links.ts';
import type { Group } from '../../crds/group.ts';
import type { Grant } from '../../environment-access/tokens.ts';
import { apiTokenId } from '../user-records/api-token.ts';
import type { User } from '../user-records/user-record.ts';
import { Grants } from './grants.ts';
import type { AccessTarget } from './hosts.ts';

const ann = { name: 'user-ann', accountId: 'a1', email: 'ann@example.com', verified: true } as User;
const withToken = (hash: string, expiresOn = '2030-01-01T00:00:00Z') =>
  ({ ...ann, apiTokens: [{ name: 'ci', hash, expiresOn }] }) as unknown as User;
const [hash, otherHash] = ['a'.repeat(64), 'b'.repeat(64)];
const targetOf = (members: string[], endedLinks?: EndedLinks) =>
  ({
    group: { metadata: {}, spec: { members } } as unknown as Group,
    environment: { spec: { endedLinks } },
  }) as AccessTarget;
const member: Grant = { kind: 'member', user: 'user-ann', account: 'a1', session: 's1' };
const link: Grant = { kind: 'link', user: 'user-ann', account: 'a1' };
const ofToken: Grant = { ...link, apiToken: apiTokenId({ hash }) };

interface World {
  cached?: User;
  read?: User;
  members?: string[];
  isLoggedIn?: boolean;
  fingerprint?: string;
}

function grantsIn({ cached, read, isLoggedIn = true, fingerprint }: World) {
  let reads = 0;
  let at = 0;
  const grants = new Grants({
    users: { cached: () => cached, read: () => Promise.resolve(read) },
    sessions: {
      isValid: () => {
        reads++;
        return Promise.resolve(isLoggedIn);
      },
    },
    passwords: {
      stored: () => Promise.resolve(fingerprint === undefined ? undefined : { text: 'x', fingerprint }),
    },
    now: () => at,
  });
  return { grants, reads: () => reads, pass: (ms: number) => (at += ms) };
}

test.each<[string, Grant, World, boolean]>([
  ['a member', member, { cached: ann }, true],
  ['a member whom this replica does not know yet', member, { read: ann }, true],
  ['a member who has left', member, { cached: ann, members: [] }, false],
  ['a member who has logged out', member, { cached: ann, isLoggedIn: false }, false],
  ['an account that was deleted', member, {}, false],
  ['a later account of the address', member, { cached: { ...ann, accountId: 'a2' } }, false],
  ['an account whose address is not verified', member, { cached: { ...ann, verified: false } }, false],
  ['a link', link, { cached: ann, isLoggedIn: false }, true],
  ['a link of somebody who has left', link, { cached: ann, members: [] }, false],
  ['a link of an API token', ofToken, { cached: withToken(hash) }, true],
  ['a link of a deleted API token', ofToken, { cached: ann }, false],
  ['a link of an API token before one of the same name', ofToken, { cached: withToken(otherHash) }, false],
  ['a link of an expired API token', ofToken, { cached: withToken(hash, '1970-01-01T00:00:00Z') }, false],
  ['a password', { kind: 'password', secret: 'f1' }, { fingerprint: 'f1' }, true],
  ['a changed password', { kind: 'password', secret: 'f1' }, { fingerprint: 'f2' }, false],
  ['a password that no longer applies', { kind: 'password', secret: 'f1' }, {}, false],
  ['a test', { kind: 'test' }, {}, true],
])('decides about %s', async (_what, grant, world, expected) => {
  const { grants } = grantsIn(world);
  expect(await grants.isValid(grant, targetOf(world.members ?? ['ann@example.com']))).toBe(expected);
});

test('asks about a login at most every 15 seconds', async () => {
  const { grants, reads, pass } = grantsIn({ cached: ann });
  const target = targetOf(['ann@example.com']);
  await Promise.all([grants.isValid(member, target), grants.isValid(member, target)]);
  pass(14_999);
  await grants.isValid(member, target);
  expect(reads()).toBe(1);
  pass(1);
  await grants.isValid(member, target);
  expect(reads()).toBe(2);
});

test('ends a link that was ended, and no login', async () => {
  const { grants } = grantsIn({ cached: ann });
  const ended = targetOf(['ann@example.com'], {
    before: '1970-01-01T00:01:40Z',
    links: [{ id: 'x', until: '2030-01-01T00:00:00Z' }],
  });
  const links = [
    { ...link, id: 'x', madeAt: 101 },
    { ...link, id: 'y', madeAt: 101 },
    { ...link, id: 'y', madeAt: 100 },
  ];
  expect(await Promise.all([...links, member].map((one) => grants.isValid(one, ended)))).toEqual([
    false,
    true,
    false,
    true,
  ]);
});
