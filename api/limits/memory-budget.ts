import { type Registry, Gauge } from 'prom-client';
import { Counts } from '../../fair-queue/counts.ts';
import { TooManyRequests, Unavailable } from '../shared/errors.ts';
import { limitMetrics, type LimitMetrics } from './limit-metrics.ts';

/** Releases what take() reserved; later calls do nothing. */
export type Release = () => void;

/** The owner of the memory: an account, or the network address of a caller who is not logged in. */
export interface Tenant {
  kind: 'account' | 'address';
  id: string;
}

export interface MemoryBudgetOptions {
  totalBytes: number;
  metrics: LimitMetrics;
}

const retryAfterSeconds = 2;

/** Maximum share of the total for one account, for one address, and for all addresses together. */
const share = { account: 1 / 4, address: 1 / 16, addresses: 1 / 2 };
/**
 * Maximum share of the free memory that one tenant can reserve. A tenant that is alone reaches a quarter of the total.
 */
const shareOfFree = 1 / 3;

/**
 * Limits the bytes of bodies and responses in the memory of one replica, per account and in total. A tenant below its
 * limit can exceed it once. The limit shrinks with the free memory, as the dynamic thresholds of shared buffers do
 * (Choudhury and Hahne, 1998), so that tenants at their limit leave room for small requests of others.
 */
export class MemoryBudget {
  readonly #options: MemoryBudgetOptions;
  readonly #held = new Counts();
  #heldByAddresses = 0;

  constructor(options: MemoryBudgetOptions) {
    this.#options = options;
  }

  /** Number of bytes in use. */
  get heldBytes(): number {
    return this.#held.total;
  }

  /** Reserves memory. @throws TooManyRequests while the tenant uses its share; Unavailable while others use too much */
  take(tenant: Tenant, bytes: number): Release {
    this.requireRoom(tenant, bytes);
    return this.count(tenant, bytes);
  }

  /** Counts bytes that can no longer be refused, such as the response to a write. */
  count({ kind, id }: Tenant, bytes: number): Release {
    const key = `${kind}:${id}`;
    this.#add(key, kind, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(key, kind, -bytes);
      isHeld = false;
    };
  }

  /**
   * Checks that memory is available.
   * @throws TooManyRequests while the tenant uses its share; Unavailable while others use too much
   */
  requireRoom({ kind, id }: Tenant, bytes = 0): void {
    const { totalBytes, metrics } = this.#options;
    const held = this.#held.of(`${kind}:${id}`);
    if (held >= totalBytes * share[kind]) {
      metrics.refused('memory');
      const mebibytes = Math.max(1, Math.round((totalBytes * share[kind]) / 1024 / 1024));
      throw new TooManyRequests(
        `your requests and unread responses use ${mebibytes} MiB of the API's memory, the limit of one ${kind}. ` +
          'Wait until some of them are complete, then try again',
        { retryAfterSeconds },
      );
    }
    const available = (totalBytes - this.#held.total) * shareOfFree;
    const isFull =
      held >= available ||
      bytes > available ||
      (kind === 'address' && this.#heldByAddresses >= totalBytes * share.addresses);
    if (!isFull) return;
    metrics.refused('memory');
    throw new Unavailable('the API has too many requests in memory. Try again in a few seconds', {
      retryAfterSeconds,
    });
  }

  #add(key: string, kind: Tenant['kind'], bytes: number): void {
    if (kind === 'address') this.#heldByAddresses += bytes;
    this.#held.add(key, bytes);
  }
}

/** Creates the budget of one replica, and registers its gauge. */
export function memoryBudget(totalBytes: number, registry: Registry, metrics = limitMetrics(registry)): MemoryBudget {
  const budget = new MemoryBudget({ totalBytes, metrics });
  new Gauge({
    name: 'coppice_api_request_memory_bytes',
    help: 'Bytes of request bodies and unread responses in memory',
    registers: [registry],
    collect() {
      this.set(budget.heldBytes);
    },
  });
  return budget;
}
