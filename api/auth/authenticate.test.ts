import { expect, test } from '@jest/globals';
import type { User } from '../user-records/user-record.ts';
import { Authenticator } from './authenticate.ts';

const user = (accountId: string, verified: boolean): User => ({
  name: 'user-1',
  accountId,
  email: 'ann@example.com',
  verified,
});

/** Authenticates a login of the account `new` if cache and API server have these users. */
async function byLogin(cached: User | undefined, current: User | undefined) {
  let reads = 0;
  const read = () => {
    reads++;
    return Promise.resolve(current);
  };
  const sessions = { find: () => Promise.resolve({ userName: 'user-1', accountId: 'new' }) };
  const authenticator = new Authenticator(sessions, { cached: () => cached, read }, Date.now);
  const caller = await authenticator.authenticate({ token: 'x'.repeat(43), source: 'header' });
  return { user: caller?.user, reads };
}

test.each<[string, User | undefined, User | undefined, { user: User | undefined; reads: number }]>([
  ['as the cache has it', user('new', true), undefined, { user: user('new', true), reads: 0 }],
  ['that the cache does not have yet', undefined, user('new', true), { user: user('new', true), reads: 1 }],
  ['in place of the cached one', user('old', true), user('new', true), { user: user('new', true), reads: 1 }],
  ['proven since it was cached', user('new', false), user('new', true), { user: user('new', true), reads: 1 }],
  ['that is gone', undefined, undefined, { user: undefined, reads: 1 }],
  ['that another one stands in place of', user('other', true), user('other', true), { user: undefined, reads: 1 }],
])('checks a login of an account %s', async (_what, cached, current, expected) => {
  expect(await byLogin(cached, current)).toEqual(expected);
});
