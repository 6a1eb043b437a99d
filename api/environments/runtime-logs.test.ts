import { expect, test } from '@jest/globals';
import { Unavailable } from '../shared/errors.ts';
import { FakeLogReader } from '../testing/fake-log-reader.ts';
import { RuntimeLogs } from './runtime-logs.ts';

const away = () => Promise.reject(new Error('The client is closed'));
const there = () => Promise.resolve(0);
const followRequest = { environment: 'group-acme/shop-main', uid: 'u-1', service: 'web' };

test.each([
  ['the follow request is reported', { set: away, publish: there, exists: there }],
  ['the answer is waited for', { set: there, publish: there, exists: away }],
])('throws Unavailable if Redis fails when %s, like every other request', async (_when, redis) => {
  const pages = { evalSha: away, eval: away };
  const logs = new RuntimeLogs({ redis, pages, reader: new FakeLogReader(), onRedisError: () => undefined });
  const { signal } = new AbortController();
  await expect(logs.read(followRequest, { tail: 1 }, signal).next()).rejects.toThrow(Unavailable);
});
