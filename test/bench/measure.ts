/** One figure: what Coppice took, and what the same took without it, measured in the same run. */
export interface Figure {
  name: string;
  /** What differs from run to run, such as the seed; kept with the figure, and not shown. */
  circumstances?: string;
  unit: string;
  /** Of each round, in the order they were taken. */
  samples: number[];
  baseline?: { name: string; samples: number[] };
  /** What the design asks for: at most (or, for rates, at least) this ratio to the baseline, or this value. */
  target?: string;
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The least of the samples that so large a share of them, from 0 to 1, does not exceed. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}

/** The ratio of the medians; undefined without a baseline, or with one that is nothing. */
export function ratioOf({ samples, baseline }: Figure): number | undefined {
  const base = baseline ? median(baseline.samples) : 0;
  return base > 0 ? median(samples) / base : undefined;
}

/** Seconds that an action takes. */
export async function secondsOf(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return (performance.now() - start) / 1000;
}
