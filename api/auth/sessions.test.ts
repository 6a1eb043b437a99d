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

test('a token is 32 random bytes, and only its hash is stored', async () => {
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

test('is renewed by use, and ends after 30 days whatever its use', async () => {
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

test('is not written again at every use', async () => {
  const token = await sessions.create(session);
  const before = redis.renewals;
  for (let uses = 0; uses < 10; uses++) await sessions.find(token);
  expect(redis.renewals).toBe(before);
});

test('a revoked token stays dead; another one of the same user lives', async () => {
  const [first, second] = [await sessions.create(session), await sessions.create(session)];
  await sessions.revoke(first);
  expect(await sessions.find(first)).toBeUndefined();
  expect(await sessions.find(second)).toEqual(session);
});

test('all of an account end at once, but the one that is excepted', async () => {
  const tokens = [await sessions.create(session), await sessions.create(session), await sessions.create(session)];
  const other = await sessions.create({ userName: 'user-2', accountId: 'b' });
  await sessions.revokeAll('a', tokens[1]);
  expect(await Promise.all(tokens.map((token) => sessions.find(token)))).toEqual([undefined, session, undefined]);
  await sessions.revokeAll('a');
  expect(await sessions.find(tokens[1] ?? '')).toBeUndefined();
  expect(await sessions.find(other)).toBeDefined();
});

test('an account has 200 at most: the oldest end', async () => {
  const tokens: string[] = [];
  for (let count = 0; count < 202; count++) {
    now++;
    tokens.push(await sessions.create(session));
  }
  const live = await Promise.all(tokens.map((token) => sessions.find(token)));
  expect(live.map((found) => found !== undefined)).toEqual([false, false, ...Array<boolean>(200).fill(true)]);
});

test('those that have ended do not count among the 200', async () => {
  const first = await sessions.create(session);
  for (let count = 0; count < 250; count++) {
    now++;
    await sessions.revoke(await sessions.create(session));
  }
  expect(await sessions.find(first)).toBeDefined();
});

test('a Redis that is away is reported so', async () => {
  redis.failure = new Error('ECONNREFUSED');
  await expect(sessions.find('x')).rejects.toBeInstanceOf(Unavailable);
  await expect(sessions.create(session)).rejects.toBeInstanceOf(Unavailable);
  await expect(sessions.revoke('x')).rejects.toBeInstanceOf(Unavailable);
  await expect(sessions.revokeAll('a')).rejects.toBeInstanceOf(Unavailable);
});
