const burst = 10;
const msPerRestore = 30_000;

interface Bucket {
  restores: number;
  at: number;
}

/**
 * Limits how often one namespace is restored, or a group's members are bound again: ten times without delay, then every
 * 30 s. Otherwise a tool that reverts each restore, or changes members all the time, would keep the operator writing.
 */
export class RestoreLimit {
  readonly #buckets = new Map<string, Bucket>();

  /** Counts a restore and returns 0 if it is permitted; otherwise returns the milliseconds to wait. */
  take(namespace: string, now: Date): number {
    this.#forgetFull(now);
    const waitMs = this.waitMs(namespace, now);
    if (waitMs > 0) return waitMs;
    const restores = this.#restores(this.#buckets.get(namespace), now);
    this.#buckets.set(namespace, { restores: restores - 1, at: now.getTime() });
    return 0;
  }

  /** Returns the milliseconds until a restore is permitted, without counting one. */
  waitMs(namespace: string, now: Date): number {
    const restores = this.#restores(this.#buckets.get(namespace), now);
    return restores < 1 ? Math.ceil((1 - restores) * msPerRestore) : 0;
  }

  #restores(bucket: Bucket | undefined, now: Date): number {
    if (!bucket) return burst;
    return Math.min(burst, bucket.restores + (now.getTime() - bucket.at) / msPerRestore);
  }

  /** Forgets namespaces that were not restored recently. */
  #forgetFull(now: Date): void {
    for (const [namespace, bucket] of this.#buckets) {
      if (this.#restores(bucket, now) >= burst) this.#buckets.delete(namespace);
    }
  }
}
