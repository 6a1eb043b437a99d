import { setTimeout as delay } from 'node:timers/promises';

/** The containers of a build that is made up. */
export const containers = ['build-web', 'build-api', 'build-worker', 'build-docs'];
const tickMs = 5;
/** One line of so many says when it was due: as many of each second, however they are put together on their way. */
const markEvery = 100;

/** Before the time at which a line was due, in Unix milliseconds; nowhere else in a line. */
export const MARK = '#';

/**
 * What one of the containers writes: its share of so many lines a second, evenly, for so long; each as the kubelet gives
 * it. A line that is late because this process is held up was due all the same.
 */
export async function* madeUpLines(rate: number, seconds: number): AsyncGenerator<string> {
  const perMs = rate / containers.length / 1000;
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
