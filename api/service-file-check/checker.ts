import { Worker } from 'node:worker_threads';
import { Counts } from '../../fair-queue/counts.ts';
import { FairQueue, type Flow } from '../../fair-queue/fair-queue.ts';
import { Invalid, TooManyRequests, Unavailable } from '../shared/errors.ts';
import type { LimitMetrics } from '../limits/limit-metrics.ts';
import type { CheckInput, CheckResult } from './check.ts';

/**
 * One worker thread at a time, whose memory stays below 100 MiB (docs/reference/limits.md states what the pod needs).
 */
const concurrency = 1;
const heapMiB = 64;
const youngHeapMiB = 16;
const maxWaitingOfAccount = 4;
const maxWaiting = 64;

export interface CheckerTimes {
  /** Maximum time to read one file, in milliseconds; elapsed time, since the next request waits for it. */
  deadlineMs: number;
  /** Maximum time that a request waits in the queue, in milliseconds. */
  queueDeadlineMs: number;
}

const defaultTimes: CheckerTimes = { deadlineMs: 5_000, queueDeadlineMs: 30_000 };

/**
 * Checks untrusted service files in a thread that is terminated when it exceeds its time or memory. Requests wait in a
 * bounded fair queue, so that one account's requests never wait for all of another's.
 */
export class ServiceFileChecker {
  readonly #metrics: LimitMetrics;
  readonly #times: CheckerTimes;
  readonly #queue = new FairQueue<() => void>({ total: concurrency });
  readonly #ofAccount = new Counts();

  constructor(metrics: LimitMetrics, times: Partial<CheckerTimes> = {}) {
    this.#metrics = metrics;
    this.#times = { ...defaultTimes, ...times };
  }

  /**
   * Checks a service file.
   * @throws Invalid when it exceeds the time or memory; TooManyRequests while too many requests of the account wait;
   * Unavailable while too many of all accounts wait, after waiting too long, or when other work took the processor
   */
  async check(account: string, input: CheckInput): Promise<CheckResult> {
    this.#requireRoom(account);
    this.#ofAccount.add(account);
    try {
      const flow = { tenant: account, group: '', host: '' };
      await this.#enter(flow);
      try {
        return await this.#checkInThread(input);
      } finally {
        this.#queue.finished(flow);
        this.#queue.take()?.();
      }
    } finally {
      this.#ofAccount.add(account, -1);
    }
  }

  #requireRoom(account: string): void {
    if (this.#ofAccount.of(account) >= maxWaitingOfAccount) {
      this.#metrics.refused('checks');
      throw new TooManyRequests(
        `${maxWaitingOfAccount} service files of yours are being checked, the limit of one account. ` +
          'Try again when one of them is done',
        { retryAfterSeconds: 2 },
      );
    }
    if (this.#queue.size < maxWaiting) return;
    this.#metrics.refused('checks');
    throw new Unavailable('too many service files are waiting to be checked. Try again in a few seconds');
  }

  /** Waits for the thread to be free. @throws Unavailable */
  async #enter(flow: Flow): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#metrics.refused('checks');
      reject(new Unavailable('the service file waited too long to be checked. Try again in a few seconds'));
    }, this.#times.queueDeadlineMs);
    this.#queue.push(flow, () => {
      clearTimeout(timer);
      if (!isLate) return resolve(undefined);
      this.#queue.finished(flow);
      this.#queue.take()?.();
    });
    this.#queue.take()?.();
    await promise;
  }

  async #checkInThread(input: CheckInput): Promise<CheckResult> {
    const worker = new Worker(new URL('./check-worker.ts', import.meta.url), {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngHeapMiB },
    });
    try {
      return await this.#answerOf(worker);
    } finally {
      await worker.terminate();
    }
  }

  #answerOf(worker: Worker): Promise<CheckResult> {
    const { deadlineMs } = this.#times;
    const { promise, resolve, reject } = Promise.withResolvers<CheckResult>();
    const timer = setTimeout(() => {
      usageOf(worker).then((used) => reject(lateness(deadlineMs, used)), reject);
    }, deadlineMs);
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(`${heapMiB} MiB of memory`) : error);
    });
    worker.once('exit', () => reject(new Error('the thread that checked a service file exited without a result')));
    return promise.finally(() => clearTimeout(timer));
  }
}

/** Returns the processor time of a thread, in microseconds; 0 for one that has not started. */
export async function usageOf(worker: Worker): Promise<NodeJS.CpuUsage> {
  try {
    return await worker.cpuUsage();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_NOT_RUNNING') throw error;
    return { user: 0, system: 0 };
  }
}

/**
 * Returns why a check did not end in time: a thread that ran for less than half of the time says nothing about the
 * file.
 */
export function lateness(deadlineMs: number, { user, system }: NodeJS.CpuUsage): Invalid | Unavailable {
  const ranMs = (user + system) / 1000;
  if (ranMs >= deadlineMs / 2) return tooLarge(`${deadlineMs / 1000} s`);
  return new Unavailable('the API was too busy to check the service file in time. Try again in a few seconds');
}

function tooLarge(what: string): Invalid {
  return new Invalid('the service file cannot be checked', {
    details: [{ path: 'serviceFile', message: `takes more than ${what} to read. Shorten it` }],
  });
}
