import { Worker } from 'node:worker_threads';
import { Invalid, Unavailable } from '../http/errors.ts';
import type { CheckInput, CheckResult } from './check.ts';

const deadlineMs = 10_000;
const mostAtOnce = 4;
const heapMb = 256;

/** Checks service files of strangers, each in a thread of its own that is ended when it takes too long or too much. */
export class ServiceFileChecker {
  /** The users whose files are being checked: one each, so that nobody takes all places. */
  readonly #running = new Set<string>();
  readonly #deadlineMs: number;

  constructor(deadline = deadlineMs) {
    this.#deadlineMs = deadline;
  }

  /** @throws Invalid when it cannot be read within bounds; Unavailable while another of the user's, or many, are. */
  async check(user: string, input: CheckInput): Promise<CheckResult> {
    if (this.#running.has(user)) {
      throw new Unavailable('another service file of yours is being checked; try again when it is done');
    }
    if (this.#running.size >= mostAtOnce)
      throw new Unavailable('other service files are being checked; try again soon');
    this.#running.add(user);
    try {
      return await this.#checkInThread(input);
    } finally {
      this.#running.delete(user);
    }
  }

  async #checkInThread(input: CheckInput): Promise<CheckResult> {
    const worker = new Worker(new URL('./check-worker.ts', import.meta.url), {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    try {
      return await this.#answerOf(worker);
    } finally {
      await worker.terminate();
    }
  }

  #answerOf(worker: Worker): Promise<CheckResult> {
    const { promise, resolve, reject } = Promise.withResolvers<CheckResult>();
    const tooLarge = (what: string) =>
      new Invalid('the service file cannot be checked', {
        details: [{ path: 'serviceFile', message: `it takes more than ${what} to read` }],
      });
    const timer = setTimeout(() => reject(tooLarge(`${this.#deadlineMs / 1000} s`)), this.#deadlineMs);
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(`${heapMb} MiB of memory`) : error);
    });
    worker.once('exit', () => reject(new Error('the thread that checked a service file ended without an answer')));
    return promise.finally(() => clearTimeout(timer));
  }
}
