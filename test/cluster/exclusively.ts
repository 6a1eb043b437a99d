import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_FOLDER } from '../support/paths.ts';
import { ProcessLock } from '../support/process-lock.ts';
import type { Progress } from '../support/progress.ts';
import { endPrograms } from '../support/run.ts';
import { waitFor } from '../support/wait-for.ts';

const deadline = 3600;
const lock = new ProcessLock(join(CACHE_FOLDER, 'lock'));

let isHeld = false;

/**
 * Runs the action while no other `npm run up`, `npm run down` or `npm test` of this user changes the cluster. Calls can
 * be nested. If it fails, this process can start no more programs: it is to end.
 */
export async function exclusively<T>(progress: Progress, action: () => Promise<T>): Promise<T> {
  if (isHeld) return action();
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const holder = lock.take();
  if (holder !== undefined) {
    await progress.step(`wait for process ${holder}, which is changing the cluster`, () =>
      waitFor(`process ${holder}`, deadline, async () => (lock.take() === undefined ? true : undefined)),
    );
  }
  isHeld = true;
  try {
    return await action();
  } catch (error) {
    // What was started beside the failed step would change the cluster and the caches without the lock.
    await endPrograms((names) => console.log(`A step failed. Waiting until these end: ${names.join(', ')}`));
    throw error;
  } finally {
    isHeld = false;
    lock.release();
  }
}
