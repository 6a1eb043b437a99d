import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, Problem } from './problem.ts';

const minPauseMs = 250;
/** A pause is as long as the check was, up to this, so that programs which checks start do not keep the machine busy. */
const maxPauseMs = 2000;

/**
 * Calls `check` until it returns a value other than undefined, and returns that value. A check that throws is repeated.
 * Throws a Problem with the last error at the deadline (in seconds), and when the signal is aborted.
 */
export async function waitFor<T>(
  what: string,
  deadline: number,
  check: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T> {
  const end = Date.now() + deadline * 1000;
  let last = '';
  for (;;) {
    const started = Date.now();
    try {
      const answer = await check();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = `: ${messageOf(error)}`;
    }
    if (Date.now() >= end) throw new Problem(`Gave up waiting for ${what} after ${deadline} s${last}`);
    if (signal?.aborted) throw new Problem(`Waiting for ${what} was aborted${last}`);
    await sleep(Math.min(Math.max(minPauseMs, Date.now() - started), maxPauseMs));
  }
}
