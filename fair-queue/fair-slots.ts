import { FairQueue, type Flow, type FlowLimits } from './fair-queue.ts';

/**
 * Limits concurrent work. By default a tenant or group can use all slots except one, a host all except two: work that
 * hangs leaves a slot for the tenant's work at other hosts, and a tenant leaves one for other tenants.
 */
export class FairSlots {
  readonly #queue: FairQueue<() => void>;

  constructor(count: number, limits: Omit<FlowLimits, 'total'> = {}) {
    this.#queue = new FairQueue({
      total: count,
      perTenant: Math.max(1, count - 1),
      perHost: Math.max(1, count - 2),
      ...limits,
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
