import { LRUCache } from 'lru-cache';
import { Unavailable } from '../shared/errors.ts';

export interface RecentReadsOptions {
  /** How long a response is reused, in milliseconds. */
  maxAgeMs: number;
  /** Maximum number of stored responses. */
  max: number;
  /** Maximum number of concurrent reads. */
  maxConcurrent: number;
}

/**
 * Responses of the API server that no informer caches. Callers share a read and, for a short time, its response, so
 * that requests cannot multiply the load.
 */
export class RecentReads<T extends object> {
  readonly #kept: LRUCache<string, Promise<T>>;
  readonly #maxConcurrent: number;
  #underWay = 0;

  constructor({ maxAgeMs, max, maxConcurrent }: RecentReadsOptions) {
    this.#kept = new LRUCache({ ttl: maxAgeMs, max });
    this.#maxConcurrent = maxConcurrent;
  }

  /** @throws Unavailable if too many reads are under way; what `read` throws */
  get(key: string, read: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key);
    if (kept) return kept;
    if (this.#underWay >= this.#maxConcurrent) {
      throw new Unavailable('too many requests read from the cluster. Try again in a second', { retryAfterSeconds: 1 });
    }
    const reading = this.#read(key, read);
    this.#kept.set(key, reading);
    return reading;
  }

  async #read(key: string, read: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await read();
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    } finally {
      this.#underWay -= 1;
    }
  }
}
