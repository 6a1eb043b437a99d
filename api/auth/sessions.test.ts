import { beforeEach, expect, test } from '@jest/globals';
import { Unavailable } from '../shared/errors.ts';
import { FakeRedis } from '../testing/fake-redis.ts';
import { Sessions } from './sessions.ts';
import { tokenHash } from '../shared/tokens.ts';

const hour = 3600 * 1000;
const session = { userName: 'user-1', accountId: 'a' };

let now: number;
let redis: FakeRedis;
let sessions: Sessions;

beforeEach(() => {
  now = 1_000_000;
  redis = new FakeRedis(() => now);
  let count = 0;
  sessions = new Sessions(
    redis,
    () => now,
    (size) => Buffer.alloc(size, ++count),
  );
});

test('creates a token of 32 random bytes, and stores only its hash', async () => {
  const token = await sessions.create(session);
  expect(Buffer.from(token, 'base64url')).toEqual(Buffer.alloc(32, 1));
  expect([...redis.entries.keys()]).toEqual([`coppice:session:${tokenHash(token)}`]);
  expect(JSON.stringify([...redis.entries])).not.toContain(token);
  expect(await sessions.find(token)).toEqual(session);
  expect(await sessions.find(`${token}x`)).toBeUndefined();
});

test('ends after 24 hours without use', async () => {
  const token = await sessions.create(session);
  now += 24 * hour;
  expect(await sessions.find(token)).toBeUndefined();
});

test('extends a session when it is used, for at most 30 days', async () => {
  const token = await sessions.create(session);
  for (let uses = 0; uses < 31; uses++) {
    now += 23 * hour;
    expect(await sessions.find(token)).toEqual(session);
  }
  now += 7 * hour - 1;
  expect(await sessions.find(token)).toEqual(session);
  now += 1;
  expect(await sessions.find(token)).toBeUndefined();
});

test('does not write the session at every use', async () => {
  const token = await sessions.create(session);
  const before = redis.renewals;
  for (let uses = 0; uses < 10; uses++) await sessions.find(token);
  expect(redis.renewals).toBe(before);
});

test('ends a revoked session, and keeps the others of the user', async () => {
  const [first, second] = [await sessions.create(session), await sessions.create(session)];
  await sessions.revoke(first);
  expect(await sessions.find(first)).toBeUndefined();
  expect(await sessions.find(second)).toEqual(session);
});

test('ends all sessions of an account except the given one', async () => {
  const tokens = [await sessions.create(session), await sessions.create(session), await sessions.create(session)];
  const other = await sessions.create({ userName: 'user-2', accountId: 'b' });
  await sessions.revokeAll('a', tokens[1]);
  expect(await Promise.all(tokens.map((token) => sessions.find(token)))).toEqual([undefined, session, undefined]);
  await sessions.revokeAll('a');
  expect(await sessions.find(tokens[1] ?? '')).toBeUndefined();
  expect(await sessions.find(other)).toBeDefined();
});

test('ends the oldest sessions of an account that has more than 200', async () => {
  const tokens: string[] = [];
  for (let count = 0; count < 202; count++) {
    now++;
    tokens.push(await sessions.create(session));
  }
  const live = await Promise.all(tokens.map((token) => sessions.find(token)));
  expect(live.map((found) => found !== undefined)).toEqual([false, false, ...Array<boolean>(200).fill(true)]);
});

test('does not count ended sessions towards the 200', async () => {
  const first = await sessions.create(session);
  for (let count = 0; count < 250; count++) {
    now++;
    await sessions.revoke(await sessions.create(session));
  }
  expect(await sessions.find(first)).toBeDefined();
});

test('throws Unavailable while Redis cannot be reached', async () => {
  redis.failure = new Error('ECONNREFUSED');
  await expect(sessions.find('x')).rejects.toBeInstanceOf(Unavailable);
  await expect(sessions.create(session)).rejects.toBeInstanceOf(Unavailable);
  await expect(sessions.revoke('x')).rejects.toBeInstanceOf(Unavailable);
  await expect(sessions.revokeAll('a')).rejects.toBeInstanceOf(Unavailable);
});
