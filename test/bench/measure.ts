/** One figure: measurements of Coppice, and of the same work without it in the same run. */
export interface Figure {
  name: string;
  /** Circumstances that differ between runs, such as the seed; stored with the figure, but not shown. */
  circumstances?: string;
  unit: string;
  /** Values of the rounds, in order. */
  samples: number[];
  baseline?: { name: string; samples: number[] };
  /** The design's target: the maximum (for rates, minimum) ratio to the baseline, or a value. */
  target?: string;
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the smallest sample that at least this share of all samples, from 0 to 1, does not exceed. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN;
}

/** Returns the ratio of the medians; undefined without a baseline, or with a baseline of 0. */
export function ratioOf({ samples, baseline }: Figure): number | undefined {
  const base = baseline ? median(baseline.samples) : 0;
  return base > 0 ? median(samples) / base : undefined;
}

/** Returns the duration of an action in seconds. */
export async function secondsOf(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return (performance.now() - start) / 1000;
}
