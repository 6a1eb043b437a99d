/** Resident memory of a process, in MiB: when it was asked to look, and at most since. */
export interface MostMemory {
  idleMiB: number;
  mostMiB: number;
}

const everyMs = 20;

/** Looks at this process's memory from now on; gives what tells of it. */
export function watchMemory(): () => MostMemory {
  const resident = () => process.memoryUsage.rss() / 2 ** 20;
  const idle = resident();
  let most = idle;
  const look = () => (most = Math.max(most, resident()));
  setInterval(look, everyMs).unref();
  return () => ({ idleMiB: Math.round(idle), mostMiB: Math.round(look()) });
}
