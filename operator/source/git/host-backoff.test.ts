import { beforeEach, expect, test } from '@jest/globals';
import { HostTimeoutError, SourceRefusedError } from '../errors.ts';
import { attempting, HostBackoff } from './host-backoff.ts';

let now = 0;
let backoff: HostBackoff;

beforeEach(() => {
  now = 0;
  backoff = new HostBackoff(() => now);
});

const late = new HostTimeoutError('the Git host did not respond in time');

/** Starts an attempt that times out; returns whether it was made. */
function timeOut(key = 'host:443'): boolean {
  try {
    backoff.start(key).timedOut(late);
    return true;
  } catch (error) {
    if (error instanceof HostTimeoutError) return false;
    throw error;
  }
}

test('waits 5 s, doubling to 60 s, and then makes one attempt', () => {
  const attempts: number[] = [];
  for (; now < 400_000; now += 1000) if (timeOut()) attempts.push(now / 1000);
  expect(attempts).toEqual([0, 5, 15, 35, 75, 135, 195, 255, 315, 375]);
});

test('makes one attempt at a time at a host that has timed out', () => {
  timeOut();
  now = 5000;
  backoff.start('host:443');
  expect(() => backoff.start('host:443')).toThrow(late.message);
});

test('counts concurrent attempts as one timeout, and skips those that wait for a slot', () => {
  const [first, second, waiting] = [1, 2, 3].map(() => backoff.start('host:443'));
  waiting?.check();
  first?.timedOut(late);
  second?.timedOut(late);
  expect(() => waiting?.check()).toThrow(late.message);
  now = 5000;
  expect(timeOut()).toBe(true);
});

test.each([
  ['success', () => Promise.resolve()],
  ['refusal', () => Promise.reject(new SourceRefusedError('NotFound', 'there is no repository'))],
])('starts over after a %s', async (_what, work) => {
  timeOut();
  now = 5000;
  timeOut();
  now = 15_000;
  await attempting(backoff.start('host:443'), work).catch(() => undefined);
  expect(timeOut()).toBe(true);
  now = 20_000;
  expect(timeOut()).toBe(true);
});

test('does not delay another host, port or tenant', () => {
  timeOut('alice host:443');
  expect(['alice other:443', 'alice host:8443', 'bob host:443'].map(timeOut)).toEqual([true, true, true]);
});

test('remembers a bounded number of hosts', () => {
  for (let i = 0; i < 10_001; i += 1) timeOut(`host-${i}`);
  expect([timeOut('host-0'), timeOut('host-10000')]).toEqual([true, false]);
});
