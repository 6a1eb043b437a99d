import { beforeAll, describe, test } from '@jest/globals';

/**
 * Tests that have nothing to do with each other and mostly wait for the cluster: all of them start when the first does,
 * after the tests above them, and each is reported by itself.
 */
export function testsSideBySide(tests: Record<string, () => Promise<void>>, timeoutMs: number): void {
  describe('side by side', () => {
    const running = new Map<string, Promise<void>>();
    // A hook of this block: one of the file's own would run before all of its tests.
    beforeAll(() => {
      for (const [name, run] of Object.entries(tests)) running.set(name, run());
      void Promise.allSettled(running.values()); // each test awaits its own
    });
    for (const name of Object.keys(tests)) test(name, () => running.get(name), timeoutMs);
  });
}
