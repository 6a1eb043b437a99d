const burst = 10;
const msPerRestore = 30_000;

interface Bucket {
  restores: number;
  at: number;
}

/**
 * Bounds how often one namespace is restored: ten times at once, then every 30 s. Without it, a tool that puts its own
 * values back each time would keep the operator writing without end.
 */
export class RestoreLimit {
  readonly #buckets = new Map<string, Bucket>();

  /** Returns 0 and counts the restore where it is allowed, else in how many milliseconds it will be. */
  take(namespace: string, now: Date): number {
    this.#forgetFull(now);
    const waitMs = this.waitMs(namespace, now);
    if (waitMs > 0) return waitMs;
    const restores = this.#restores(this.#buckets.get(namespace), now);
    this.#buckets.set(namespace, { restores: restores - 1, at: now.getTime() });
    return 0;
  }

  /** Returns in how many milliseconds a restore will be allowed; counts none. */
  waitMs(namespace: string, now: Date): number {
    const restores = this.#restores(this.#buckets.get(namespace), now);
    return restores < 1 ? Math.ceil((1 - restores) * msPerRestore) : 0;
  }

  #restores(bucket: Bucket | undefined, now: Date): number {
    if (!bucket) return burst;
    return Math.min(burst, bucket.restores + (now.getTime() - bucket.at) / msPerRestore);
  }

  /** Those are in it alone that were restored of late. */
  #forgetFull(now: Date): void {
    for (const [namespace, bucket] of this.#buckets) {
      if (this.#restores(bucket, now) >= burst) this.#buckets.delete(namespace);
    }
  }
}
