import { readdirSync, readFileSync } from 'node:fs';

const everyMs = 50;

export interface MemoryUse {
  /** The processes that have the argument, and all that these started. */
  pids: number[];
  /** What they hold in memory of their own; not what is shared with files, which is theirs only in part. */
  bytes: number;
}

/** What processes with this argument, and their descendants, use. Of Linux: proc(5). */
export function memoryOf(argument: string): MemoryUse {
  const pids = familyOf(argument);
  return { pids, bytes: pids.reduce((sum, pid) => sum + ownBytes(pid), 0) };
}

export interface MemoryWatch {
  /** Whether they have used more, and were killed. */
  readonly isExceeded: boolean;
  end: () => void;
}

/**
 * Kills these processes as soon as they use more: the container would be ended with all that it does, for what one page
 * takes. They are polled because a container without privileges cannot have a cgroup for each run (ADR 47).
 */
export function watchMemory(argument: string, maxBytes: number): MemoryWatch {
  let isExceeded = false;
  const timer = setInterval(() => {
    const { pids, bytes } = memoryOf(argument);
    if (bytes <= maxBytes) return;
    isExceeded = true;
    for (const pid of pids) kill(pid);
  }, everyMs);
  return {
    get isExceeded() {
      return isExceeded;
    },
    end: () => clearInterval(timer),
  };
}

function familyOf(argument: string): number[] {
  const childrenOf = new Map<number, number[]>();
  const family: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    // The name of the program, in parentheses, may hold anything; then state and parent.
    const parent = Number(read(pid, 'stat').split(')').at(-1)?.split(' ')[2]);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid]);
    if (read(pid, 'cmdline').split('\0').includes(argument)) family.push(pid);
  }
  const found = new Set(family);
  for (const pid of found) for (const child of childrenOf.get(pid) ?? []) found.add(child);
  return [...found];
}

function ownBytes(pid: number): number {
  const kibs = [...read(pid, 'status').matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)];
  return kibs.reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
}

/** Empty where the process has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
