/** A finished run. */
export interface KeptRun {
  id: string;
  group: string;
  bytes: number;
  /** In milliseconds of the clock. */
  endedAt: number;
}

/** Tracks finished runs, and selects which must be deleted when they use too much space. */
export class KeptRuns {
  readonly #max: { bytes: number; ms: number };
  /** By group, oldest first. */
  readonly #runs = new Map<string, KeptRun[]>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(max: { bytes: number; ms: number }) {
    this.#max = max;
  }

  /**
   * Records a run that has just finished.
   * @returns the IDs of runs to delete: the oldest ones of the group with the most data, so that no group displaces the
   * runs of others
   */
  add(run: KeptRun): string[] {
    const runs = this.#runs.get(run.group) ?? [];
    runs.push(run);
    this.#runs.set(run.group, runs);
    this.#change(run.group, run.bytes);
    this.#forgetExpired(run.endedAt - this.#max.ms);
    const gone: string[] = [];
    while (this.#bytes > this.#max.bytes) {
      const largest = [...this.#bytesOf].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
      const oldest = this.#shift(largest);
      if (oldest === undefined) break;
      gone.push(oldest.id);
    }
    return gone;
  }

  /** Forgets runs that have expired in Redis. */
  #forgetExpired(before: number): void {
    for (const [group, runs] of this.#runs) {
      while (runs[0] !== undefined && runs[0].endedAt <= before) this.#shift(group);
    }
  }

  #shift(group: string): KeptRun | undefined {
    const runs = this.#runs.get(group) ?? [];
    const run = runs.shift();
    if (run !== undefined) this.#change(group, -run.bytes);
    if (runs.length === 0) {
      this.#runs.delete(group);
      this.#bytesOf.delete(group);
    }
    return run;
  }

  #change(group: string, by: number): void {
    this.#bytes += by;
    this.#bytesOf.set(group, (this.#bytesOf.get(group) ?? 0) + by);
  }
}
