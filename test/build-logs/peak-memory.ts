/** Resident memory of a process in MiB: at the start of watching, and its maximum since. */
export interface PeakMemory {
  idleMiB: number;
  peakMiB: number;
}

const everyMs = 20;

/** Starts to watch this process's memory; returns a function that reports it. */
export function watchMemory(): () => PeakMemory {
  const resident = () => process.memoryUsage.rss() / 2 ** 20;
  const idle = resident();
  let max = idle;
  const sample = () => (max = Math.max(max, resident()));
  setInterval(sample, everyMs).unref();
  return () => ({ idleMiB: Math.round(idle), peakMiB: Math.round(sample()) });
}
