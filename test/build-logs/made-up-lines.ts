import { setTimeout as delay } from 'node:timers/promises';

/** The containers of a build that is made up. */
export const containers = ['build-web', 'build-api', 'build-worker', 'build-docs'];
const tickMs = 5;

/**
 * What one of the containers writes: its share of so many lines a second, evenly, for so long; each as the kubelet gives
 * it, and with the time it was written at in Unix milliseconds.
 */
export async function* madeUpLines(rate: number, seconds: number): AsyncGenerator<string> {
  const perContainer = rate / containers.length;
  const started = performance.now();
  for (let written = 0; written < perContainer * seconds;) {
    const due = Math.min(((performance.now() - started) / 1000) * perContainer, perContainer * seconds);
    const now = (performance.timeOrigin + performance.now()).toFixed(3);
    const time = new Date().toISOString().replace('Z', '000000Z');
    for (; written < due; written++) yield `${time} #9 ${now} the ${written}th line of a build, as long as they are`;
    await delay(tickMs);
  }
}
