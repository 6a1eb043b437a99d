import type { Logger } from 'pino';
import { CouldNotRun } from '../test-types/kind.ts';
import { type Item, stringItem } from '../test-types/items.ts';
import { type AnyTest, WrongParams } from '../test-types/test.ts';
import type { FlowOwner } from '../../fair-queue/fair-queue.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';
import { hashOf, isSecretOf, type RunStatus } from './run.ts';
import type { End, RunStore, StoredRun } from './run-store.ts';

export interface RunMetrics {
  ended: (type: string, result: 'passed' | 'faulty' | 'failed', seconds: number) => void;
  refused: () => void;
}

export interface RunsOptions {
  store: Pick<
    RunStore,
    'loadKept' | 'add' | 'start' | 'end' | 'secretHash' | 'status' | 'result' | 'running' | 'queued'
  >;
  queue: RunQueue;
  tests: ReadonlyMap<string, AnyTest>;
  groupOf: (url: string) => string;
  deadlineMs: number;
  /** Delay before a failed operation at Redis is retried, in milliseconds. */
  retryMs?: number;
  /** Returns a new ID or Secret. */
  randomToken: () => string;
  /** Returns monotonic milliseconds. */
  now: () => number;
  metrics: RunMetrics;
  logger: Logger;
}

export interface Started {
  id: string;
  secret: string;
}

/** No run is accepted now; the message says why. */
export class QueueFull extends Error {
  override name = 'QueueFull';
}

/** The tester is recovering runs of a previous process, or is stopping. */
export class NotReady extends Error {
  override name = 'NotReady';
}

/** Share of the deadline that a test can use before it must end by itself. */
const ownShare = 0.9;

const stopped = 'the tester was restarted while this test was running. Run the test again';

/** Accepts runs, stores them, and runs as many concurrently as the queue permits. */
export class Runs {
  readonly #given: RunsOptions;
  readonly #stop = new AbortController();
  readonly #atWork = new Set<Promise<void>>();
  #isRecovered = false;

  constructor(options: RunsOptions) {
    this.#given = options;
  }

  /** Whether the runs of the previous tester were recovered; nothing starts before that. */
  get isRecovered(): boolean {
    return this.#isRecovered;
  }

  /**
   * Recovers the runs of the previous tester: running ones have failed, waiting ones are queued again. Retries until
   * Redis responds.
   */
  async recover(): Promise<void> {
    const { store, queue, logger } = this.#given;
    const left = await this.#untilStored(async () => {
      await store.loadKept();
      const running = await store.running();
      for (const id of running) await store.end(id, { message: stopped });
      return { running, queued: await store.queued() };
    });
    for (const run of left.queued) queue.restore(run);
    this.#isRecovered = true;
    logger.info(
      { failed: left.running.length, queued: left.queued.length },
      'recovered the runs of the previous tester',
    );
    this.#startNext();
  }

  /**
   * Accepts a run with params that the test has checked.
   * @param headers sent with each request to the environment
   * @param owner whom the run counts for; if absent, the group in the URL's host
   * @throws QueueFull, NotReady; an error of the store, and then the run is not accepted
   */
  async start(
    type: string,
    params: unknown,
    url: string,
    owner?: Partial<FlowOwner>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Started> {
    const { store, queue, groupOf, randomToken, metrics } = this.#given;
    // The waiting runs are being read from the store, and could include this one.
    if (!this.#isRecovered || this.#stop.signal.aborted)
      throw new NotReady('the tester is starting or stopping. Try again in a few seconds');
    const group = owner?.group ?? groupOf(url);
    const flowOwner = { group, tenant: owner?.tenant ?? group };
    if (!queue.reserve(flowOwner)) {
      metrics.refused();
      throw new QueueFull('too many tests are waiting. Try again later');
    }
    const [id, secret] = [randomToken(), randomToken()];
    try {
      await store.add({ id, secretHash: hashOf(secret), type, params, headers, ...flowOwner });
    } catch (error) {
      queue.release(flowOwner);
      throw error;
    }
    queue.push({ ...flowOwner, id });
    this.#startNext();
    return { id, secret };
  }

  /** Returns the run's status; undefined if there is no run with this ID and Secret. */
  async status(id: string, secret: string): Promise<RunStatus | undefined> {
    const { store } = this.#given;
    return isSecretOf(secret, await store.secretHash(id)) ? store.status(id) : undefined;
  }

  /** Returns the results of a finished run. */
  async result(id: string): Promise<Item[]> {
    return (await this.#given.store.result(id)) ?? [];
  }

  /** Ends running tests as failed, and starts no more; waiting runs remain in the store. */
  async stop(): Promise<void> {
    this.#stop.abort(new CouldNotRun(stopped));
    await Promise.all(this.#atWork);
  }

  #startNext(): void {
    const { queue } = this.#given;
    while (this.#isRecovered && !this.#stop.signal.aborted) {
      const run = queue.take();
      if (run === undefined) return;
      const work = this.#work(run).finally(() => {
        this.#atWork.delete(work);
        queue.ended(run);
        this.#startNext();
      });
      this.#atWork.add(work);
    }
  }

  async #work({ id }: QueuedRun): Promise<void> {
    const { store, metrics, now, logger } = this.#given;
    try {
      const run = await this.#untilStored(() => store.start(id));
      if (run === undefined) {
        logger.warn({ id }, 'a waiting run is no longer in Redis');
        return;
      }
      const started = now();
      const { end, result } = await this.#endOf(id, run);
      metrics.ended(run.type, result, (now() - started) / 1000);
      logger.info({ id, type: run.type, result, ...('message' in end && { reason: end.message }) }, 'a run has ended');
      await this.#untilStored(() => store.end(id, end));
    } catch (error) {
      // The tester is stopping; the next one finds the run as running in the store.
      logger.warn({ err: error, id }, 'the end of a run was not stored');
    }
  }

  async #endOf(
    id: string,
    { type, params, headers }: StoredRun,
  ): Promise<{ end: End; result: 'passed' | 'faulty' | 'failed' }> {
    const { tests, deadlineMs, now, logger } = this.#given;
    const seconds = Math.round(deadlineMs / 1000);
    const deadline = new AbortController();
    const late = setTimeout(() => {
      deadline.abort(new CouldNotRun(`the test took longer than ${seconds} s. Check fewer or faster pages`));
    }, deadlineMs).unref();
    const endBy = now() + deadlineMs * ownShare;
    const signal = AbortSignal.any([deadline.signal, this.#stop.signal]);
    try {
      const test = tests.get(type);
      if (test === undefined)
        throw new CouldNotRun(`this tester has no test type ${type}. GET /test/info lists its types`);
      const { passed, summary, items } = await untilAborted(test.run(params, { signal, endBy, headers }), signal);
      const readiness = [stringItem('passed', String(passed)), stringItem('summary', summary)];
      return { end: { result: [...readiness, ...items] }, result: passed ? 'passed' : 'faulty' };
    } catch (error) {
      if (error instanceof CouldNotRun || error instanceof WrongParams) {
        return { end: { message: error.message }, result: 'failed' };
      }
      logger.error({ err: error, id, type }, 'a test threw');
      return {
        end: { message: 'the test failed with an internal error. Ask an administrator to check the log of the tester' },
        result: 'failed',
      };
    } finally {
      clearTimeout(late);
    }
  }

  /** Retries until it succeeds; once the tester stops, only one more time. */
  async #untilStored<T>(write: () => Promise<T>): Promise<T> {
    const { retryMs = 1000, logger } = this.#given;
    for (;;) {
      const isLast = this.#stop.signal.aborted;
      try {
        return await write();
      } catch (error) {
        if (isLast) throw error;
        logger.warn({ err: error }, 'Redis has not responded; trying again');
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}

/**
 * Resolves like the promise, or rejects with the signal's reason when it is aborted, so that no test exceeds its
 * deadline.
 */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
