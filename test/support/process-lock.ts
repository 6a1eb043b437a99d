import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process runs as another user.
    return hasCode(error, 'EPERM');
  }
}

/** Returns when a process started, in clock ticks on Linux and '' elsewhere; undefined if it does not run. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return isRunning(pid) ? '' : undefined;
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The second field, a name in parentheses, may contain spaces; the 22nd is the start (proc_pid_stat(5)).
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[22 - 3];
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

/** A lock in a file, which a process holds until it releases it or ends. */
export class ProcessLock {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes the lock. Returns undefined, or the ID of the running process that holds it. */
  take(): number | undefined {
    const own = `${this.#path}.${process.pid}`;
    writeFileSync(own, `${process.pid} ${startOf(process.pid) ?? ''}`);
    try {
      while (!tryLink(own, this.#path)) {
        const holder = readIfThere(this.#path);
        if (holder === undefined) continue;
        const [pid = '', start] = holder.split(' ');
        // After a restart, another process can have the ID of the holder.
        const current = Number(pid) > 0 ? startOf(Number(pid)) : undefined;
        // An older version wrote no start.
        if (current !== undefined && (start === undefined || start === current)) return Number(pid);
        this.release();
      }
      return undefined;
    } finally {
      rmSync(own);
    }
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}

/** Links a file to a path, which then has its whole content at once. Returns false if the path exists. */
function tryLink(file: string, path: string): boolean {
  try {
    linkSync(file, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}
