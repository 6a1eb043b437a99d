import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { watchRedis } from './redis-watch.ts';

let ended = new AbortController();

afterEach(() => {
  ended.abort();
  ended = new AbortController();
});

/** A client whose role is answered by `answer`; `calls` lists what was done with it. */
function watched(answer: () => Promise<{ role: string }>, isReady = true) {
  const calls: string[] = [];
  let pings = 0;
  const redis = {
    isReady,
    role: () => {
      pings++;
      return answer();
    },
    destroy: () => {
      redis.isReady = false;
      calls.push('destroy');
    },
    connect: () => {
      calls.push('connect');
      return Promise.reject(new Error('refused'));
    },
  };
  const errors: unknown[] = [];
  watchRedis(redis, { pingMs: 1, timeoutMs: 20, onError: (error) => errors.push(error), signal: ended.signal });
  return { calls, errors, pings: () => pings };
}

async function until(isReached: () => boolean): Promise<void> {
  while (!isReached()) await delay(1);
}

test('reconnects once to a Redis that does not respond', async () => {
  const { calls, errors, pings } = watched(() => new Promise(() => undefined));
  await until(() => errors.length === 2);
  expect(calls).toEqual(['destroy', 'connect']);
  expect(errors.map(String)).toEqual([expect.stringContaining('not responded for 20 ms'), 'Error: refused']);
  expect(pings()).toBe(1);
});

test('reconnects to a primary that has become a replica', async () => {
  const { calls, errors } = watched(() => Promise.resolve({ role: 'slave' }));
  await until(() => errors.length === 2);
  expect(calls).toEqual(['destroy', 'connect']);
  expect(String(errors[0])).toContain('is a replica');
});

test.each<[string, () => Promise<{ role: string }>]>([
  ['answers', () => Promise.resolve({ role: 'master' })],
  ['answers with an error, as while it loads its data', () => Promise.reject(new Error('LOADING'))],
])('does not reconnect to one that %s', async (_, answer) => {
  const { calls, pings } = watched(answer);
  await until(() => pings() > 3);
  expect(calls).toEqual([]);
});
