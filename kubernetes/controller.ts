import type { Logger } from 'pino';
import type { Flow } from '../fair-queue/fair-queue.ts';
import { systemClock, type Clock } from './clock.ts';
import { StallingError, WaitingError } from './controller-errors.ts';
import { WorkQueue, type WorkQueueMetrics } from './work-queue.ts';

export interface ReconcileResult {
  /** Requeues after this time even if nothing changed; 0 does not requeue. */
  requeueAfterMs?: number | undefined;
  /** Handled like a thrown error, but requeues after `requeueAfterMs` at the latest, because something is due then. */
  failure?: unknown;
}

/**
 * Reconciles the object under `key` (objectKey()), whatever its state. Never runs twice for one key at the same time.
 * The signal is aborted when the controller must stop, or the reconcile has timed out.
 * @throws StallingError, WaitingError; all other errors are retried with backoff
 */
// oxlint-disable-next-line typescript/no-invalid-void-type -- a reconcile that needs no requeue returns nothing
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | void>;

/** controller-runtime's values of the label `result`. */
export type ReconcileOutcome = 'success' | 'error' | 'requeue_after';

export interface ControllerMetrics {
  queue: WorkQueueMetrics;
  reconciled(outcome: ReconcileOutcome, seconds: number): void;
  /** Counted in addition to the outcome `error`: there is no retry. */
  stalled(): void;
  /** Counted in addition to the outcome `error`: a programming error, which would be a panic in Go. */
  panicked(): void;
  workers(active: number, max: number): void;
}

export interface ControllerOptions {
  name: string;
  reconcile: Reconcile;
  /** Workers start after all of these have synced. */
  informers?: readonly { name: string; whenSynced(): Promise<void> }[];
  /** Number of concurrent reconciles. Default 1. */
  workers?: number;
  /**
   * Returns the flow of a key. A tenant uses at most half of the workers, a host a quarter, and each at least one. If
   * groups must not wait for each other at a host, include the group in the host's name.
   */
  flowOf?: (key: string) => Flow;
  /**
   * Returns whether a key that was added before the workers start waits for something. The others, which are only checked,
   * give way to it and to what changes from then on, as in controller-runtime's priority queue. By default none waits.
   */
  isUrgent?: ((key: string) => boolean) | undefined;
  /** Timeout of a reconcile, after which its signal is aborted. Default 2 minutes. */
  reconcileTimeoutMs?: number;
  /** Maximum backoff after failures. Default 1000 s. */
  maxDelayMs?: number | undefined;
  /** How long stop() waits for running reconciles before it aborts their signals. Default 10 s. */
  drainMs?: number;
  logger: Logger;
  /** Returns additional fields for the key's log lines. */
  logFields?: (key: string) => object;
  metrics?: ControllerMetrics | undefined;
  clock?: Clock;
}

/**
 * A controller as in controller-runtime (pkg/internal/controller/controller.go): a queue, and workers that reconcile.
 */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #queue: WorkQueue;
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #running: Promise<void> | undefined;
  #active = 0;
  #hasStarted = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = options.logger.child({ controller: options.name });
    const { maxDelayMs, metrics, flowOf, workers = 1 } = options;
    const part = (of: number) => Math.max(1, Math.floor(workers / of));
    this.#queue = new WorkQueue({
      clock: this.#clock,
      metrics: metrics?.queue,
      ...(maxDelayMs && { maxDelayMs }),
      ...(flowOf && { flowOf, limits: { perTenant: part(2), perHost: part(4) } }),
    });
  }

  /** Adds the key to the queue; for informer handlers. */
  enqueue(key: string): void {
    this.#queue.add(key, { isLater: !this.#hasStarted && this.#options.isUrgent !== undefined });
  }

  /** Adds the key to the queue in `ms`; of several calls the earliest time counts. */
  enqueueAfter(key: string, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /** Starts the workers once the informers have synced; resolves when they run, or stop() was called. */
  async start(): Promise<void> {
    const { informers = [], workers = 1, isUrgent } = this.#options;
    const { signal } = this.#stopping;
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([Promise.all(informers.map((informer) => informer.whenSynced())), stopped]);
    if (signal.aborted) return;
    this.#hasStarted = true;
    for (const key of this.#queue.laterKeys) if (isUrgent?.(key) === true) this.#queue.add(key);
    this.#options.metrics?.workers(0, workers);
    this.#logger.debug({ workers }, 'controller started');
    this.#running = Promise.all(Array.from({ length: workers }, () => this.#work())).then(() => undefined);
  }

  /**
   * Takes no more keys, waits up to drainMs for running reconciles, then aborts their signals; resolves when all have
   * ended.
   */
  async stop(drainMs: number = this.#options.drainMs ?? 10_000): Promise<void> {
    this.#stopping.abort();
    const cancel = this.#clock.setTimeout(() => {
      this.#logger.warn({ active: this.#active }, 'reconciles are still running; aborting them');
      this.#aborting.abort(new Error('the controller is stopping'));
    }, drainMs);
    await this.#queue.shutDownWithDrain();
    cancel();
    await this.#running;
  }

  async #work(): Promise<void> {
    for (;;) {
      const key = await this.#queue.get();
      if (key === undefined) return;
      // The next process finds the remaining keys with its first list.
      if (!this.#stopping.signal.aborted) await this.#reconcile(key);
      this.#queue.done(key);
    }
  }

  async #reconcile(key: string): Promise<void> {
    const { metrics, workers = 1, reconcileTimeoutMs = 120_000 } = this.#options;
    const ending = new AbortController();
    const end = () => ending.abort(this.#aborting.signal.reason);
    this.#aborting.signal.addEventListener('abort', end, { once: true });
    const cancel = this.#clock.setTimeout(() => {
      ending.abort(new Error(`reconciling ${key} took more than ${reconcileTimeoutMs / 1000} s`));
    }, reconcileTimeoutMs);
    metrics?.workers(++this.#active, workers);
    const started = this.#clock.now();
    let outcome: ReconcileOutcome = 'error';
    try {
      outcome = this.#ended(key, await this.#options.reconcile(key, ending.signal));
    } catch (error) {
      outcome = this.#failed(key, error);
    } finally {
      cancel();
      this.#aborting.signal.removeEventListener('abort', end);
      metrics?.workers(--this.#active, workers);
      metrics?.reconciled(outcome, (this.#clock.now() - started) / 1000);
    }
  }

  // oxlint-disable-next-line typescript/no-invalid-void-type -- as Reconcile
  #ended(key: string, result: ReconcileResult | void): ReconcileOutcome {
    const { requeueAfterMs: afterMs = 0, failure } = result ?? {};
    const outcome = failure === undefined ? undefined : this.#failed(key, failure);
    if (outcome === undefined) this.#queue.forget(key);
    if (afterMs > 0) this.#queue.addAfter(key, afterMs);
    return outcome ?? (afterMs > 0 ? 'requeue_after' : 'success');
  }

  #failed(key: string, error: unknown): ReconcileOutcome {
    const { metrics } = this.#options;
    if (error instanceof WaitingError) {
      this.#queue.forget(key);
      this.#queue.addAfter(key, error.afterMs);
      this.#logger.debug({ ...this.#about(key), err: error }, 'reconcile waits');
      return 'requeue_after';
    }
    if (error instanceof StallingError) {
      this.#queue.forget(key);
      metrics?.stalled();
      this.#logger.info({ ...this.#about(key), err: error }, 'reconcile stalled until the object changes');
      return 'error';
    }
    if (isProgrammingError(error)) metrics?.panicked();
    this.#queue.addRateLimited(key);
    const failures = this.#queue.requeues(key);
    this.#logger.error({ ...this.#about(key), err: error, failures }, 'reconcile failed; retrying');
    return 'error';
  }

  #about(key: string): object {
    return { key, ...this.#options.logFields?.(key) };
  }
}

function isProgrammingError(error: unknown): boolean {
  return !(error instanceof Error) || [TypeError, ReferenceError, RangeError].some((kind) => error instanceof kind);
}
