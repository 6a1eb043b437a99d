/** Resident memory of a process, in MiB: when it was asked to look, and at most since. */
export interface PeakMemory {
  idleMiB: number;
  peakMiB: number;
}

const everyMs = 20;

/** Looks at this process's memory from now on; gives what reports it. */
export function watchMemory(): () => PeakMemory {
  const resident = () => process.memoryUsage.rss() / 2 ** 20;
  const idle = resident();
  let max = idle;
  const sample = () => (max = Math.max(max, resident()));
  setInterval(sample, everyMs).unref();
  return () => ({ idleMiB: Math.round(idle), peakMiB: Math.round(sample()) });
}
