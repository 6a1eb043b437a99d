import { beforeAll, describe, test } from '@jest/globals';

/**
 * Defines independent tests that mostly wait for the cluster: they start with the first one, after the tests above them,
 * and each reports its own result. At most `atOnce` run at the same time.
 */
export function testsSideBySide(
  tests: Record<string, () => Promise<void>>,
  timeoutMs: number,
  atOnce = Number.MAX_SAFE_INTEGER,
): void {
  describe('side by side', () => {
    const running = new Map<string, Promise<void>>();
    // A hook of this block; one of the file would run before all of its tests.
    beforeAll(() => {
      const waiting = Object.entries(tests).map(([name, run]) => {
        const { promise, resolve } = Promise.withResolvers<undefined>();
        const done = promise.then(run).finally(() => waiting.shift()?.(undefined));
        running.set(name, done);
        return resolve;
      });
      void Promise.allSettled(running.values()); // Each test awaits its own.
      for (const start of waiting.splice(0, atOnce)) start(undefined);
    });
    for (const name of Object.keys(tests)) test(name, () => running.get(name), timeoutMs);
  });
}
