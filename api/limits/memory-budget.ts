import { type Registry, Gauge } from 'prom-client';
import { TooManyRequests, Unavailable } from '../http/errors.ts';
import { limitMetrics, type LimitMetrics } from './limit-metrics.ts';

/** Returns what take() took; calls after the first do nothing. */
export type Release = () => void;

/** Whose memory it is: an account, or the network address of somebody who is not logged in. */
export interface Party {
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

/**
 * Bounds the bytes of bodies and answers that one replica has in memory, by account and over all of them. A party that
 * is below its limit can exceed it once: so a single large answer is never refused.
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

  /** @throws TooManyRequests while the party holds its share; Unavailable while all is held */
  take(party: Party, bytes: number): Release {
    this.requireRoom(party);
    return this.count(party, bytes);
  }

  /** Counts bytes that cannot be refused any more, such as the answer of a write. */
  count({ kind, id }: Party, bytes: number): Release {
    const key = `${kind}:${id}`;
    this.#add(key, kind, bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(key, kind, -bytes);
      isHeld = false;
    };
  }

  /** @throws TooManyRequests while the party holds its share; Unavailable while all is held */
  requireRoom({ kind, id }: Party): void {
    const { totalBytes, metrics } = this.#options;
    if ((this.#held.get(`${kind}:${id}`) ?? 0) >= totalBytes * share[kind]) {
      metrics.refused('memory');
      const mebibytes = Math.max(1, Math.round((totalBytes * share[kind]) / 1024 / 1024));
      throw new TooManyRequests(
        `your requests and unread answers hold ${mebibytes} MiB of the API's memory, the limit of one ${kind}. ` +
          'Wait until some of them are complete, then try again',
        { retryAfterSeconds },
      );
    }
    const isFull =
      this.#total >= totalBytes || (kind === 'address' && this.#heldByAddresses >= totalBytes * share.addresses);
    if (!isFull) return;
    metrics.refused('memory');
    throw new Unavailable('the API holds too many requests in memory. Try again in a few seconds', {
      retryAfterSeconds,
    });
  }

  #add(key: string, kind: Party['kind'], bytes: number): void {
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
