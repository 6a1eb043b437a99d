import { systemClock, type Clock } from './clock.ts';
import { FairQueue, type Flow, type FlowLimits } from '../fair-queue/fair-queue.ts';

/** Called by the queue; durations are in seconds. The names are those of client-go's workqueue metrics. */
export interface WorkQueueMetrics {
  depth(length: number): void;
  added(): void;
  retried(): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
  /** Receives, once, a function that returns how long each processing key has been processed, in seconds. */
  underWork(seconds: () => number[]): void;
}

export interface WorkQueueOptions {
  clock?: Clock;
  /** The delay of a key's n-th rate-limited add, counted from 0, is base · 2ⁿ, up to the maximum. */
  baseDelayMs?: number;
  maxDelayMs?: number;
  metrics?: WorkQueueMetrics | undefined;
  /** Returns the flow of a key when it is added. By default all keys have the same flow. */
  flowOf?: ((key: string) => Flow) | undefined;
  /** Maximum number of processing keys. By default there is no limit. */
  limits?: FlowLimits;
}

/** A key that is queued or processing. */
interface Entry {
  key: string;
  flow: Flow;
  /** Since when, in milliseconds. */
  since: number;
}

const defaultFlow: Flow = { tenant: '', group: '', host: '' };

/**
 * How often delayed keys are compared with the clock, in milliseconds. Timers stop while the machine is suspended and
 * ignore a clock that is set, so a delay would otherwise end late.
 */
const sweepMs = 30_000;

/**
 * A work queue like client-go's (util/workqueue: queue.go, delaying_queue.go, default_rate_limiters.go), with promises
 * instead of blocking calls. A waiting key is queued once. A processing key is never returned again before done(); if
 * it is added meanwhile, it is queued after done().
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #baseDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #metrics: WorkQueueMetrics | undefined;
  readonly #flowOf: (key: string) => Flow;
  /** Keys ready to be returned; all are dirty and none is processing. */
  readonly #queue: FairQueue<Entry>;
  /** Waiting keys that give way to others. */
  readonly #later = new Map<string, Entry>();
  /** Keys that need to be processed. */
  readonly #dirty = new Set<string>();
  /** Keys that were returned and are not done. */
  readonly #processing = new Map<string, Entry>();
  readonly #delayed = new Map<string, { at: number; cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #getters: ((key: string | undefined) => void)[] = [];
  readonly #drainers: (() => void)[] = [];
  #cancelSweep: (() => void) | undefined;
  #shuttingDown = false;

  constructor(options: WorkQueueOptions = {}) {
    const { clock = systemClock, baseDelayMs = 5, maxDelayMs = 1_000_000, metrics } = options;
    const { flowOf = () => defaultFlow, limits } = options;
    this.#flowOf = flowOf;
    this.#queue = new FairQueue(limits);
    this.#clock = clock;
    this.#baseDelayMs = baseDelayMs;
    this.#maxDelayMs = maxDelayMs;
    this.#metrics = metrics;
    metrics?.underWork(() => {
      const now = this.#clock.now();
      return [...this.#processing.values()].map(({ since }) => (now - since) / 1000);
    });
  }

  /** Number of keys that are ready, without processing and delayed ones. */
  get length(): number {
    return this.#queue.size;
  }

  get shuttingDown(): boolean {
    return this.#shuttingDown;
  }

  /** Adds the key. With `isLater` it gives way to other keys of its flow, until it is added without. */
  add(key: string, { isLater = false } = {}): void {
    if (this.#shuttingDown) return;
    if (this.#dirty.has(key)) {
      if (!isLater) this.#advance(key);
      return;
    }
    this.#metrics?.added();
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#push(key, isLater);
  }

  /** Waiting keys that give way to others. */
  get laterKeys(): string[] {
    return [...this.#later.keys()];
  }

  /** Adds the key in `ms`; of several calls for one key the earliest time counts. */
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
    const cancel = this.#clock.setTimeout(() => this.#due(key), ms);
    this.#delayed.set(key, { at, cancel });
    this.#cancelSweep ??= this.#clock.setTimeout(() => this.#sweep(), sweepMs);
  }

  /** Adds the key after its backoff, which every call doubles until forget(). */
  addRateLimited(key: string): void {
    const failures = this.requeues(key);
    this.#failures.set(key, failures + 1);
    this.#metrics?.retried();
    this.addAfter(key, Math.min(this.#baseDelayMs * 2 ** failures, this.#maxDelayMs));
  }

  /** Resets the key's backoff. A delay that has started continues. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Returns how often the key was added with rate limiting since forget(). */
  requeues(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * Returns the next key when one is available; undefined when the queue is shut down and empty. Call done() for each
   * key.
   */
  get(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#getters.push(resolve);
      this.#serve();
    });
  }

  done(key: string): void {
    const entry = this.#processing.get(key);
    if (entry === undefined) return;
    this.#processing.delete(key);
    this.#queue.finished(entry.flow);
    this.#metrics?.worked((this.#clock.now() - entry.since) / 1000);
    if (this.#dirty.has(key)) this.#push(key);
    else this.#serve();
    if (this.#processing.size === 0) for (const drained of this.#drainers.splice(0)) drained();
  }

  /** Accepts no more keys; ready ones are still returned, delayed ones are dropped. */
  shutDown(): void {
    this.#shuttingDown = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#endSweeps();
    this.#serve();
  }

  /** Calls shutDown(), and resolves when done() was called for every key. */
  async shutDownWithDrain(): Promise<void> {
    this.shutDown();
    if (this.#processing.size > 0) await new Promise<void>((resolve) => this.#drainers.push(resolve));
  }

  #due(key: string): void {
    this.#delayed.get(key)?.cancel();
    this.#delayed.delete(key);
    if (this.#delayed.size === 0) this.#endSweeps();
    this.add(key);
  }

  /** Adds keys that are due by the clock although their timers have not fired. */
  #sweep(): void {
    this.#cancelSweep = this.#clock.setTimeout(() => this.#sweep(), sweepMs);
    const now = this.#clock.now();
    for (const [key, { at }] of this.#delayed) if (at <= now) this.#due(key);
  }

  #endSweeps(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  /** Lets a key that gives way wait like others. */
  #advance(key: string): void {
    const entry = this.#later.get(key);
    if (!entry) return;
    this.#later.delete(key);
    this.#queue.remove(entry.flow, entry);
    this.#queue.push(entry.flow, entry);
  }

  #push(key: string, isLater = false): void {
    const flow = this.#flowOf(key);
    const entry = { key, flow, since: this.#clock.now() };
    if (isLater) this.#later.set(key, entry);
    this.#queue.push(flow, entry, { isLater });
    const waiting = this.#queue.size;
    this.#serve();
    if (this.#queue.size === waiting) this.#metrics?.depth(waiting);
  }

  /** Returns available keys to waiting calls of get(). */
  #serve(): void {
    while (this.#getters.length > 0) {
      const next = this.#queue.take();
      if (!next) break;
      this.#handOut(next);
      this.#getters.shift()?.(next.key);
    }
    if (this.#shuttingDown && this.#queue.size === 0) for (const resolve of this.#getters.splice(0)) resolve(undefined);
  }

  #handOut(entry: Entry): void {
    const now = this.#clock.now();
    this.#dirty.delete(entry.key);
    this.#later.delete(entry.key);
    this.#processing.set(entry.key, { ...entry, since: now });
    this.#metrics?.waited((now - entry.since) / 1000);
    this.#metrics?.depth(this.#queue.size);
  }
}
