import { beforeAll, describe, test } from '@jest/globals';

/**
 * Defines independent tests that mostly wait for the cluster: all start with the first one, after the tests above them,
 * and each reports its own result.
 */
export function testsSideBySide(tests: Record<string, () => Promise<void>>, timeoutMs: number): void {
  describe('side by side', () => {
    const running = new Map<string, Promise<void>>();
    // A hook of this block; one of the file would run before all of its tests.
    beforeAll(() => {
      for (const [name, run] of Object.entries(tests)) running.set(name, run());
      void Promise.allSettled(running.values()); // Each test awaits its own.
    });
    for (const name of Object.keys(tests)) test(name, () => running.get(name), timeoutMs);
  });
}
