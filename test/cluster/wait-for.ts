import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, Problem } from './problem.ts';

/**
 * Asks until the answer is not undefined, and gives that answer. A check that throws counts as no answer yet. Throws a
 * Problem that names the deadline (in seconds) and the last error; and as soon as the signal says so.
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
    try {
      const answer = await check();
      if (answer !== undefined) return answer;
    } catch (error) {
      last = `: ${messageOf(error)}`;
    }
    if (Date.now() >= end) throw new Problem(`Gave up waiting for ${what} after ${deadline} s${last}`);
    if (signal?.aborted) throw new Problem(`Nobody waits for ${what} any more${last}`);
    await sleep(250);
  }
}
