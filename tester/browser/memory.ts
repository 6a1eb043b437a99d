import { readdirSync, readFileSync } from 'node:fs';

const everyMs = 50;

export interface MemoryUse {
  /** IDs of the processes with the argument, and of their descendants. */
  pids: number[];
  /** Their private memory in bytes, without memory that is shared with files. */
  bytes: number;
}

/** Returns the memory used by processes with this argument and their descendants, from Linux's proc(5). */
export function memoryOf(argument: string): MemoryUse {
  const pids = familyOf(argument);
  return { pids, bytes: pids.reduce((sum, pid) => sum + ownBytes(pid), 0) };
}

export interface MemoryWatch {
  /** Whether they exceeded the limit and were killed. */
  readonly isExceeded: boolean;
  end: () => void;
}

/**
 * Kills these processes when they exceed the limit: otherwise one page could end the container with all its runs. Polls
 * their memory because a container without privileges cannot create a cgroup for each run (ADR 47).
 */
export function watchMemory(argument: string, maxBytes: number): MemoryWatch {
  let isExceeded = false;
  const timer = setInterval(() => {
    const { pids, bytes } = memoryOf(argument);
    if (bytes <= maxBytes) return;
    isExceeded = true;
    pids.forEach(kill);
  }, everyMs);
  return {
    get isExceeded() {
      return isExceeded;
    },
    end: () => clearInterval(timer),
  };
}

/** Kills all processes with this argument and their descendants. */
export function killProcesses(argument: string): void {
  familyOf(argument).forEach(kill);
}

function familyOf(argument: string): number[] {
  const childrenOf = new Map<number, number[]>();
  const family: number[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    // The program's name, in parentheses, can contain anything; state and parent follow.
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

/** Returns an empty text if the process has ended. */
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
    // The process has already ended.
  }
}
