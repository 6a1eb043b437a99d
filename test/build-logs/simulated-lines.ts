import { setTimeout as delay } from 'node:timers/promises';

/** The CONTAINERS of a simulated build. */
export const CONTAINERS = ['build-web', 'build-api', 'build-worker', 'build-docs'];
const tickMs = 5;
/** Every hundredth line contains the time when it was due, so that every second has the same number of them. */
const markEvery = 100;

/** Precedes the time at which a line was due, in Unix milliseconds; appears nowhere else in a line. */
export const MARK = '#';

/**
 * Yields the lines of one container in the kubelet's format, evenly at this rate for this many seconds. A line counts
 * as due at its time even if this process is delayed.
 */
export async function* madeUpLines(rate: number, seconds: number): AsyncGenerator<string> {
  const perMs = rate / CONTAINERS.length / 1000;
  const total = perMs * seconds * 1000;
  const started = performance.now();
  for (let written = 0; written < total;) {
    const due = Math.min((performance.now() - started) * perMs, total);
    const time = new Date().toISOString().replace('Z', '000000Z');
    for (; written < due; written++) {
      const dueAt = performance.timeOrigin + started + written / perMs;
      const mark = written % markEvery === 0 ? `${MARK}${dueAt.toFixed(3)}` : 'as others, no time';
      yield `${time} ${mark} the ${written}th line of a build, as long as they are`;
    }
    await delay(tickMs);
  }
}
