import { systemClock, type Clock } from './clock.ts';

/** Told by the queue; durations in seconds. The names are those of client-go's workqueue metrics. */
export interface WorkQueueMetrics {
  depth(length: number): void;
  added(): void;
  retried(): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
}

export interface WorkQueueOptions {
  clock?: Clock;
  /** The wait of a key's n-th rateLimited add, counted from 0, is base · 2ⁿ, at most max. */
  baseDelayMs?: number;
  maxDelayMs?: number;
  metrics?: WorkQueueMetrics | undefined;
}

/**
 * client-go's workqueue (util/workqueue: queue.go, delaying_queue.go, default_rate_limiters.go), with promises where
 * that one blocks: a key that waits is there once; a key that is worked on is never handed out a second time, and when
 * it is added meanwhile it comes again after done().
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #metrics: WorkQueueMetrics | undefined;
  /** Keys to hand out, in order, with when they came; all of them are dirty and none is processing. */
  readonly #queue = new Map<string, number>();
  /** Keys that need to be processed. */
  readonly #dirty = new Set<string>();
  /** Keys handed out and not done, with when that was. */
  readonly #processing = new Map<string, number>();
  readonly #delayed = new Map<string, { at: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #getters: ((key: string | undefined) => void)[] = [];
  readonly #drainers: (() => void)[] = [];
  #shuttingDown = false;

  constructor({ clock = systemClock, baseDelayMs = 5, maxDelayMs = 1_000_000, metrics }: WorkQueueOptions = {}) {
    this.#clock = clock;
    this.#baseDelayMs = baseDelayMs;
    this.#maxDelayMs = maxDelayMs;
    this.#metrics = metrics;
  }

  /** Keys ready to be handed out; neither those worked on nor those put off. */
  get length(): number {
    return this.#queue.size;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  add(key: string): void {
    if (this.#shuttingDown || this.#dirty.has(key)) return;
    this.#metrics?.added();
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#push(key);
  }

  /** Adds the key in `ms`; of several for one key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#shuttingDown) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.now() + ms;
    const earlier = this.#delayed.get(key);
    if (earlier) {
      if (earlier.at <= at) return;
      earlier.cancel();
    }
    const cancel = this.#clock.setTimeout(() => {
      this.#delayed.delete(key);
      this.add(key);
    }, ms);
    this.#delayed.set(key, { at, cancel });
  }

  /** Adds the key after its backoff, which every call doubles until forget(). */
  addRateLimited(key: string): void {
    const failures = this.requeues(key);
    this.#failures.set(key, failures + 1);
    this.#metrics?.retried();
    this.addAfter(key, Math.min(this.#baseDelayMs * 2 ** failures, this.#maxDelayMs));
  }

  /** The key's next backoff is the shortest again. A wait that has begun goes on. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often the key was added rate limited since it was last forgotten. */
  requeues(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * The next key, when there is one; undefined once the queue is shut down and empty. done() must follow for each.
   */
  get(): Promise<string | undefined> {
    const [next] = this.#queue;
    if (next === undefined) {
      if (this.#shuttingDown) return Promise.resolve(undefined);
      return new Promise((resolve) => this.#getters.push(resolve));
    }
    const [key, since] = next;
    this.#queue.delete(key);
    this.#handOut(key, since);
    return Promise.resolve(key);
  }

  done(key: string): void {
    const since = this.#processing.get(key);
    if (since === undefined) return;
    this.#processing.delete(key);
    this.#metrics?.worked((this.#clock.now() - since) / 1000);
    if (this.#dirty.has(key)) this.#push(key);
    if (this.#processing.size === 0) for (const drained of this.#drainers.splice(0)) drained();
  }

  /** Nothing is added any more; what is ready is still handed out, what is put off is dropped. */
  shutDown(): void {
    this.#shuttingDown = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    for (const resolve of this.#getters.splice(0)) resolve(undefined);
  }

  /** shutDown(), and resolves when every key that was handed out is done. */
  async shutDownWithDrain(): Promise<void> {
    this.shutDown();
    if (this.#processing.size > 0) await new Promise<void>((resolve) => this.#drainers.push(resolve));
  }

  #push(key: string): void {
    const getter = this.#getters.shift();
    if (getter) {
      this.#handOut(key, this.#clock.now());
      getter(key);
      return;
    }
    this.#queue.set(key, this.#clock.now());
    this.#metrics?.depth(this.#queue.size);
  }

  #handOut(key: string, since: number): void {
    const now = this.#clock.now();
    this.#dirty.delete(key);
    this.#processing.set(key, now);
    this.#metrics?.waited((now - since) / 1000);
    this.#metrics?.depth(this.#queue.size);
  }
}
