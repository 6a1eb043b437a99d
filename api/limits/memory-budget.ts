import { type Registry, Gauge } from 'prom-client';
import { TooManyRequests, Unavailable } from '../http/errors.ts';
import { limitMetrics, type LimitMetrics } from './limit-metrics.ts';

/** Returns what take() took; calls after the first do nothing. */
export type Release = () => void;

/** Whose memory it is: an account, or the network address of somebody who is not logged in. */
export interface Tenant {
  kind: 'account' | 'address';
  id: string;
}

export interface MemoryBudgetOptions {
  totalBytes: number;
  metrics: LimitMetrics;
}

const retryAfterSeconds = 2;

/** Of the total: what one account, one address, and all addresses together can hold. */
const share = { account: 1 / 4, address: 1 / 16, addresses: 1 / 2 };
/** Of what is free: what one tenant can hold, and take at once. A tenant that is alone reaches a quarter of the total. */
const shareOfFree = 1 / 3;

/**
 * Bounds the bytes of bodies and answers that one replica has in memory, by account and over all of them. A tenant that
 * is below its limit can exceed it once. The limit shrinks with what is free, as the dynamic thresholds of shared buffers
 * do (Choudhury and Hahne, 1998), so that tenants which hold all they can leave room for small requests of others.
 */
export class MemoryBudget {
  readonly #options: MemoryBudgetOptions;
  readonly #held = new Map<string, number>();
  #heldByAddresses = 0;
  #total = 0;

  constructor(options: MemoryBudgetOptions) {
    this.#options = options;
  }

  /** Bytes that are held now. */
  get heldBytes(): number {
    return this.#total;
  }

  /** @throws TooManyRequests while the tenant holds its share; Unavailable while others hold too much */
  take(tenant: Tenant, bytes: number): Release {
    this.requireRoom(tenant, bytes);
    return this.count(tenant, bytes);
  }

  /** Counts bytes that cannot be refused any more, such as the answer of a write. */
  count({ kind, id }: Tenant, bytes: number): Release {
    const key = `${kind}:${id}`;
    this.#add(key, kind, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(key, kind, -bytes);
      isHeld = false;
    };
  }

  /** @throws TooManyRequests while the tenant holds its share; Unavailable while others hold too much */
  requireRoom({ kind, id }: Tenant, bytes = 0): void {
    const { totalBytes, metrics } = this.#options;
    const held = this.#held.get(`${kind}:${id}`) ?? 0;
    if (held >= totalBytes * share[kind]) {
      metrics.refused('memory');
      const mebibytes = Math.max(1, Math.round((totalBytes * share[kind]) / 1024 / 1024));
      throw new TooManyRequests(
        `your requests and unread answers hold ${mebibytes} MiB of the API's memory, the limit of one ${kind}. ` +
          'Wait until some of them are complete, then try again',
        { retryAfterSeconds },
      );
    }
    const available = (totalBytes - this.#total) * shareOfFree;
    const isFull =
      held >= available ||
      bytes > available ||
      (kind === 'address' && this.#heldByAddresses >= totalBytes * share.addresses);
    if (!isFull) return;
    metrics.refused('memory');
    throw new Unavailable('the API holds too many requests in memory. Try again in a few seconds', {
      retryAfterSeconds,
    });
  }

  #add(key: string, kind: Tenant['kind'], bytes: number): void {
    this.#total += bytes;
    if (kind === 'address') this.#heldByAddresses += bytes;
    const held = (this.#held.get(key) ?? 0) + bytes;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }
}

/** Makes the budget of one replica, and registers its gauge. */
export function memoryBudget(totalBytes: number, registry: Registry, metrics = limitMetrics(registry)): MemoryBudget {
  const budget = new MemoryBudget({ totalBytes, metrics });
  new Gauge({
    name: 'coppice_api_request_memory_bytes',
    help: 'Bytes of request bodies and of answers that were not read yet',
    registers: [registry],
    collect() {
      this.set(budget.heldBytes);
    },
  });
  return budget;
}
