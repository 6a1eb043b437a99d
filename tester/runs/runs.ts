import type { Logger } from 'pino';
import { CouldNotRun } from '../test-types/kind.ts';
import { type Item, stringItem } from '../test-types/items.ts';
import { type AnyTest, WrongParams } from '../test-types/test.ts';
import type { FlowOwner } from '../../fair-queue/fair-queue.ts';
import type { QueuedRun, RunQueue } from './run-queue.ts';
import { hashOf, isSecretOf, type RunStatus } from './run.ts';
import type { End, RunStore } from './run-store.ts';

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
  /** Milliseconds until something is tried at Redis again. */
  retryMs?: number;
  /** A new ID, a new Secret. */
  randomToken: () => string;
  /** Monotonic milliseconds. */
  now: () => number;
  metrics: RunMetrics;
  logger: Logger;
}

export interface Started {
  id: string;
  secret: string;
}

/** No run is taken now; the message says why. */
export class QueueFull extends Error {
  override name = 'QueueFull';
}

/** The tester takes up what a former one left, or is about to end. */
export class NotReady extends Error {
  override name = 'NotReady';
}

/** Of the deadline, what a test may use until it ends by itself. */
const ownShare = 0.9;

const stopped = 'the tester was restarted while this test ran: run it again';

/** Takes runs, keeps them in the store, and works on so many at once as the queue lets start. */
export class Runs {
  readonly #given: RunsOptions;
  readonly #stop = new AbortController();
  readonly #atWork = new Set<Promise<void>>();
  #isRecovered = false;

  constructor(options: RunsOptions) {
    this.#given = options;
  }

  /** Whether what the former tester left is taken up: before, nothing starts. */
  get isRecovered(): boolean {
    return this.#isRecovered;
  }

  /** Takes up what the former tester left: what ran has failed, what waited goes on. Tries until Redis answers. */
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
    logger.info({ failed: left.running.length, queued: left.queued.length }, 'took up what the former tester left');
    this.#startNext();
  }

  /**
   * Takes a run of params that the test has checked.
   * @param owner whose run it is; the group that the url's host names where absent.
   * @throws QueueFull, NotReady; what the store throws, and then nothing is taken.
   */
  async start(type: string, params: unknown, url: string, owner?: Partial<FlowOwner>): Promise<Started> {
    const { store, queue, groupOf, randomToken, metrics } = this.#given;
    // What waits is being read from the store: it could hold this run already.
    if (!this.#isRecovered || this.#stop.signal.aborted) throw new NotReady('the tester is starting or stopping');
    const group = owner?.group ?? groupOf(url);
    const flowOwner = { group, tenant: owner?.tenant ?? group };
    if (!queue.reserve(flowOwner)) {
      metrics.refused();
      throw new QueueFull('so many tests wait that no more is taken now: try again later');
    }
    const [id, secret] = [randomToken(), randomToken()];
    try {
      await store.add({ id, secretHash: hashOf(secret), type, params, ...flowOwner });
    } catch (error) {
      queue.release(flowOwner);
      throw error;
    }
    queue.push({ ...flowOwner, id });
    this.#startNext();
    return { id, secret };
  }

  /** undefined where there is no such run, or its Secret is another. */
  async status(id: string, secret: string): Promise<RunStatus | undefined> {
    const { store } = this.#given;
    return isSecretOf(secret, await store.secretHash(id)) ? store.status(id) : undefined;
  }

  /** Of a run that is finished. */
  async result(id: string): Promise<Item[]> {
    return (await this.#given.store.result(id)) ?? [];
  }

  /** Ends what runs as failed, and starts nothing more; what waits is in the store. */
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
        logger.warn({ id }, 'a run that waited is no longer in Redis');
        return;
      }
      const started = now();
      const { end, result } = await this.#endOf(id, run.type, run.params);
      metrics.ended(run.type, result, (now() - started) / 1000);
      logger.info({ id, type: run.type, result, ...('message' in end && { reason: end.message }) }, 'a run has ended');
      await this.#untilStored(() => store.end(id, end));
    } catch (error) {
      // Stopping: the next tester finds in the store that it ran.
      logger.warn({ err: error, id }, 'the end of a run was not stored');
    }
  }

  async #endOf(
    id: string,
    type: string,
    params: unknown,
  ): Promise<{ end: End; result: 'passed' | 'faulty' | 'failed' }> {
    const { tests, deadlineMs, now, logger } = this.#given;
    const seconds = Math.round(deadlineMs / 1000);
    const deadline = new AbortController();
    const late = setTimeout(() => {
      deadline.abort(new CouldNotRun(`the test took longer than ${seconds} s`));
    }, deadlineMs).unref();
    const endBy = now() + deadlineMs * ownShare;
    const signal = AbortSignal.any([deadline.signal, this.#stop.signal]);
    try {
      const test = tests.get(type);
      if (test === undefined) throw new CouldNotRun(`this tester has no test ${type}`);
      const { passed, summary, items } = await untilAborted(test.run(params, { signal, endBy }), signal);
      const readiness = [stringItem('passed', String(passed)), stringItem('summary', summary)];
      return { end: { result: [...readiness, ...items] }, result: passed ? 'passed' : 'faulty' };
    } catch (error) {
      if (error instanceof CouldNotRun || error instanceof WrongParams) {
        return { end: { message: error.message }, result: 'failed' };
      }
      logger.error({ err: error, id, type }, 'a test threw');
      return {
        end: { message: 'the test ended with an error of its own: the log of the tester has it' },
        result: 'failed',
      };
    } finally {
      clearTimeout(late);
    }
  }

  /** Tries until it succeeds; once the tester stops, once more at the most. */
  async #untilStored<T>(write: () => Promise<T>): Promise<T> {
    const { retryMs = 1000, logger } = this.#given;
    for (;;) {
      const isLast = this.#stop.signal.aborted;
      try {
        return await write();
      } catch (error) {
        if (isLast) throw error;
        logger.warn({ err: error }, 'Redis has not answered: trying again');
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }
}

/** What a promise brings, or the reason of the signal as soon as it is aborted: no test outlives its deadline. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
