import { systemClock, type Clock } from './clock.ts';
import { FairQueue, type Flow, type FlowLimits } from '../fair-queue/fair-queue.ts';

/** Called with by the queue; durations in seconds. The names are those of client-go's workqueue metrics. */
export interface WorkQueueMetrics {
  depth(length: number): void;
  added(): void;
  retried(): void;
  waited(seconds: number): void;
  worked(seconds: number): void;
  /** Given once: for how long, in seconds, each key that is handed out has been worked on. */
  underWork(seconds: () => number[]): void;
}

export interface WorkQueueOptions {
  clock?: Clock;
  /** The wait of a key's n-th rateLimited add, counted from 0, is base · 2ⁿ, at most max. */
  baseDelayMs?: number;
  maxDelayMs?: number;
  metrics?: WorkQueueMetrics | undefined;
  /** Returns the flow that a key belongs to when it is added. By default all keys are of one. */
  flowOf?: ((key: string) => Flow) | undefined;
  /** How many keys may be handed out and not done. By default there is no limit. */
  limits?: FlowLimits;
}

/** A key to hand out, or handed out and not done. */
interface Entry {
  key: string;
  flow: Flow;
  /** When that was so first. */
  since: number;
}

const defaultFlow: Flow = { tenant: '', group: '', host: '' };

/**
 * A timer counts the time that the machine is awake, and knows nothing of a clock that is set: what is put off is
 * compared with the clock so often, or a wait would end late by as much as either took.
 */
const sweepMs = 30_000;

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
  readonly #flowOf: (key: string) => Flow;
  /** Keys to hand out; all of them are dirty and none is processing. */
  readonly #queue: FairQueue<Entry>;
  /** Keys that need to be processed. */
  readonly #dirty = new Set<string>();
  /** Keys handed out and not done. */
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

  /** The key's next backoff is the shortest again. A wait that has started goes on. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often the key was added rate limited since it was last forgotten. */
  requeues(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /**
   * The next key, when there is one that may be handed out; undefined once the queue is shut down and empty. done() must
   * follow for each.
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

  /** Nothing is added any more; what is ready is still handed out, what is put off is dropped. */
  shutDown(): void {
    this.#shuttingDown = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#endSweeps();
    this.#serve();
  }

  /** shutDown(), and resolves when every key that was handed out is done. */
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

  /** What is due by the clock though its timer has not fired. */
  #sweep(): void {
    this.#cancelSweep = this.#clock.setTimeout(() => this.#sweep(), sweepMs);
    const now = this.#clock.now();
    for (const [key, { at }] of this.#delayed) if (at <= now) this.#due(key);
  }

  #endSweeps(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #push(key: string): void {
    const flow = this.#flowOf(key);
    this.#queue.push(flow, { key, flow, since: this.#clock.now() });
    const waiting = this.#queue.size;
    this.#serve();
    if (this.#queue.size === waiting) this.#metrics?.depth(waiting);
  }

  /** Hands out what may be, to those that wait for it. */
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
    this.#processing.set(entry.key, { ...entry, since: now });
    this.#metrics?.waited((now - entry.since) / 1000);
    this.#metrics?.depth(this.#queue.size);
  }
}
