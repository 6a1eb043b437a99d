import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import { LongPolls, type Wait } from './long-polls.ts';

const response = (closed = false) => Object.assign(new EventEmitter(), { closed }) as never;
const poll = (accountId: string, seconds = 10, answer = response()) => ({ accountId, seconds, response: answer });
const untilAborted = ({ signal }: Wait) =>
  new Promise<string>((resolve) => {
    if (signal.aborted) resolve('ended');
    signal.addEventListener('abort', () => resolve('ended'));
  });

test('limits the waits of each account, and of all', async () => {
  const polls = new LongPolls({ perAccount: 2, total: 3 });
  const waits = [poll('a'), poll('a'), poll('b')].map((one) => polls.run(one, untilAborted));
  await expect(polls.run(poll('a'), untilAborted)).rejects.toThrow(TooManyRequests);
  await expect(polls.run(poll('c'), untilAborted)).rejects.toThrow(Unavailable);
  polls.close();
  expect(await Promise.all(waits)).toEqual(['ended', 'ended', 'ended']);
});

test('releases a slot when a wait ends or fails, or its connection closes', async () => {
  const polls = new LongPolls({ perAccount: 1, total: 1 });
  await polls.run(poll('a'), () => Promise.resolve());
  await expect(polls.run(poll('a'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const answer = response();
  const wait = polls.run(poll('a', 10, answer), untilAborted);
  (answer as unknown as EventEmitter).emit('close');
  expect(await wait).toBe('ended');
  expect(await polls.run(poll('a', 10, response(true)), untilAborted)).toBe('ended');
});

test.each([
  [5, 5000],
  [60, 55_000],
])('waits %s s for %s ms, which is shorter than proxies wait', async (seconds, timeoutMs) => {
  const polls = new LongPolls();
  expect(await polls.run(poll('a', seconds), (wait) => Promise.resolve(wait.timeoutMs))).toBe(timeoutMs);
});
