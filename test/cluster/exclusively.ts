import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_FOLDER } from './paths.ts';
import type { Progress } from './progress.ts';
import { waitFor } from './wait-for.ts';

const lockFile = join(CACHE_FOLDER, 'lock');
const deadline = 3600;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Takes the lock; returns the process ID of its holder if it is taken. Ignores a lock whose process no longer runs. */
function tryLock(): number | undefined {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const holder = Number(readFileSync(lockFile, 'utf8'));
  if (holder > 0 && isRunning(holder)) return holder;
  rmSync(lockFile, { force: true });
  return tryLock();
}

let held = false;

/**
 * Runs the action while no other `npm run up`, `npm run down` or `npm test` of this user changes the cluster. Calls can
 * be nested.
 */
export async function exclusively<T>(progress: Progress, action: () => Promise<T>): Promise<T> {
  if (held) return action();
  mkdirSync(CACHE_FOLDER, { recursive: true });
  const holder = tryLock();
  if (holder !== undefined) {
    await progress.step(`wait for process ${holder}, which is changing the cluster`, () =>
      waitFor(`process ${holder}`, deadline, async () => (tryLock() === undefined ? true : undefined)),
    );
  }
  held = true;
  try {
    return await action();
  } finally {
    held = false;
    rmSync(lockFile, { force: true });
  }
}
