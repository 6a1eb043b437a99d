import { FairQueue, type Flow } from './fair-queue.ts';

/**
 * Executes a limited amount of work at once. A tenant and a group have all slots but one, a host all but two: work that
 * hangs leaves a slot to the tenant's work at other hosts, and a tenant leaves one to the others.
 */
export class FairSlots {
  readonly #queue: FairQueue<() => void>;

  constructor(count: number) {
    this.#queue = new FairQueue({
      total: count,
      perTenant: Math.max(1, count - 1),
      perHost: Math.max(1, count - 2),
    });
  }

  async run<T>(flow: Flow, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#queue.push(flow, start);
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.#queue.finished(flow);
      this.#startNext();
    }
  }

  #startNext(): void {
    for (let start = this.#queue.take(); start !== undefined; start = this.#queue.take()) start();
  }
}
