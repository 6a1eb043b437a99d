import { TooManyRequests } from '../shared/errors.ts';

/** Maximum number of callers that wait for one object in one replica. */
export const MAX_WAITING = 16;

const retryAfterSeconds = 1;

/** Work on an object that waits for earlier work on it. */
export interface Job {
  /** How many callers wait for it. */
  readonly callers: number;
  /** Does the work; never rejects. */
  start: () => Promise<void>;
}

/** Runs one job at a time for each object, in the order of arrival. */
export class ObjectQueue {
  /** Waiting jobs by object; an idle object has no entry. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #onRefused: () => void;

  constructor(onRefused: () => void) {
    this.#onRefused = onRefused;
  }

  /** Runs the work when it is first in the queue. @throws TooManyRequests when too many wait already */
  async run<R>(key: string, work: () => Promise<R>): Promise<R> {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    this.add(key, { callers: 1, start: () => work().then(resolve, reject) });
    return promise;
  }

  /** Adds a job at the end of the queue. @throws TooManyRequests when too many callers wait already */
  add(key: string, job: Job): void {
    const waiting = this.#waiting.get(key);
    if (waiting) {
      this.requireRoom(key);
      waiting.push(job);
    } else {
      this.#waiting.set(key, []);
      this.#start(key, job);
    }
  }

  /** Returns the last job in the queue that has not started. */
  last(key: string): Job | undefined {
    return this.#waiting.get(key)?.at(-1);
  }

  /** Checks that another caller can wait. @throws TooManyRequests */
  requireRoom(key: string): void {
    const callers = (this.#waiting.get(key) ?? []).reduce((sum, job) => sum + job.callers, 0);
    if (callers < MAX_WAITING) return;
    this.#onRefused();
    const message = `${callers} requests wait to change the same object, which is the limit. Try again in a second`;
    throw new TooManyRequests(message, { retryAfterSeconds });
  }

  #start(key: string, job: Job): void {
    void job.start().finally(() => {
      const next = this.#waiting.get(key)?.shift();
      if (next) this.#start(key, next);
      else this.#waiting.delete(key);
    });
  }
}
