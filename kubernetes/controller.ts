import type { Logger } from 'pino';
import type { Flow } from '../fair-queue/fair-queue.ts';
import { systemClock, type Clock } from './clock.ts';
import { StallingError, WaitingError } from './controller-errors.ts';
import { WorkQueue, type WorkQueueMetrics } from './work-queue.ts';

export interface ReconcileResult {
  /** Requeues after this time even if nothing changed; 0 does not requeue. */
  requeueAfterMs?: number | undefined;
  /** As if it were thrown, but reconciled again after `requeueAfterMs` at the latest: something falls due then. */
  failure?: unknown;
}

/**
 * Makes the world as the object under `key` (objectKey()) wants it, from whatever state; called for no key twice at
 * once. The signal is aborted when the controller must end, or the reconcile's time is over.
 * @throws StallingError, WaitingError; anything else is tried again with backoff.
 */
// oxlint-disable-next-line typescript/no-invalid-void-type -- a reconcile that has no wish returns nothing
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | void>;

/** controller-runtime's values of the label `result`. */
export type ReconcileOutcome = 'success' | 'error' | 'requeue_after';

export interface ControllerMetrics {
  queue: WorkQueueMetrics;
  reconciled(outcome: ReconcileOutcome, seconds: number): void;
  /** Beside its outcome `error`: no retry follows. */
  stalled(): void;
  /** Beside its outcome `error`: a programming error, in Go a panic. */
  panicked(): void;
  workers(active: number, max: number): void;
}

export interface ControllerOptions {
  name: string;
  reconcile: Reconcile;
  /** No worker starts before all have synced. */
  informers?: readonly { name: string; whenSynced(): Promise<void> }[];
  /** How many keys are worked on at once. Default 1. */
  workers?: number;
  /**
   * Returns the flow of a key. Half the workers at most are then one tenant's, a quarter one host's, and never none. Give a
   * host a name of its own for each group where groups must not wait for each other there.
   */
  flowOf?: (key: string) => Flow;
  /** After this time the signal of a reconcile is aborted. Default 2 minutes. */
  reconcileTimeoutMs?: number;
  /** The longest backoff after failures. Default 1000 s. */
  maxDelayMs?: number | undefined;
  /** How long stop() lets reconciles run on before it aborts their signals. Default 10 s. */
  drainMs?: number;
  logger: Logger;
  /** On the log's lines about a key, beside it. */
  logFields?: (key: string) => object;
  metrics?: ControllerMetrics | undefined;
  clock?: Clock;
}

/** controller-runtime's controller (pkg/internal/controller/controller.go): a queue, and workers that reconcile. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #queue: WorkQueue;
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #running: Promise<void> | undefined;
  #active = 0;

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

  /** Reconciles the key soon; for informer handlers. */
  enqueue(key: string): void {
    this.#queue.add(key);
  }

  /** Reconciles the key in `ms`; of several waits the earliest counts. */
  enqueueAfter(key: string, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  /** Starts the workers once the informers have synced; resolves when they run, or stop() came first. */
  async start(): Promise<void> {
    const { informers = [], workers = 1 } = this.#options;
    const { signal } = this.#stopping;
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([Promise.all(informers.map((informer) => informer.whenSynced())), stopped]);
    if (signal.aborted) return;
    this.#options.metrics?.workers(0, workers);
    this.#logger.debug({ workers }, 'controller started');
    this.#running = Promise.all(Array.from({ length: workers }, () => this.#work())).then(() => undefined);
  }

  /** Takes no new key, lets those under way end for drainMs, then aborts their signals; resolves when all ended. */
  async stop(drainMs: number = this.#options.drainMs ?? 10_000): Promise<void> {
    this.#stopping.abort();
    const cancel = this.#clock.setTimeout(() => {
      this.#logger.warn({ active: this.#active }, 'reconciles are still running, aborting them');
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
      // What is left in the queue is found again by the next process's first list.
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
    this.#logger.error({ ...this.#about(key), err: error, failures }, 'reconcile failed, retrying');
    return 'error';
  }

  #about(key: string): object {
    return { key, ...this.#options.logFields?.(key) };
  }
}

function isProgrammingError(error: unknown): boolean {
  return !(error instanceof Error) || [TypeError, ReferenceError, RangeError].some((kind) => error instanceof kind);
}
