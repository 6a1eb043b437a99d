import { Counts } from './counts.ts';

interface Kept {
  tenant: string;
  size: number;
}

/**
 * Shares a limited size between tenants: when it is exceeded, the oldest items of the tenant that keeps most have to go,
 * so that no tenant displaces the items of others.
 */
export class FairRoom {
  readonly #max: number;
  readonly #items = new Map<string, Kept>();
  /** By tenant: its items, oldest first. */
  readonly #keysOf = new Map<string, Set<string>>();
  readonly #sizes = new Counts();

  /** @param max the maximum size of all items together; by default none */
  constructor(max = Infinity) {
    this.#max = max;
  }

  /** Adds an item, or replaces it. @returns the keys of items that have to go, perhaps its own */
  add(tenant: string, key: string, size: number): string[] {
    this.delete(key);
    this.#items.set(key, { tenant, size });
    const keys = this.#keysOf.get(tenant) ?? new Set();
    this.#keysOf.set(tenant, keys.add(key));
    this.#sizes.add(tenant, size);
    return this.shrink(this.#max);
  }

  /** Makes all items together fit into a size. @returns the keys of items that have to go */
  shrink(max: number): string[] {
    const gone: string[] = [];
    while (this.#sizes.total > max) {
      const oldest = this.#oldestOfLargest();
      if (oldest === undefined) break;
      this.delete(oldest);
      gone.push(oldest);
    }
    return gone;
  }

  /** Makes an item the newest one of its tenant. */
  touch(key: string): void {
    const keys = this.#keysOf.get(this.#items.get(key)?.tenant ?? '');
    if (keys?.delete(key) === true) keys.add(key);
  }

  delete(key: string): void {
    const kept = this.#items.get(key);
    if (!kept) return;
    const { tenant, size } = kept;
    this.#items.delete(key);
    const keys = this.#keysOf.get(tenant);
    keys?.delete(key);
    this.#sizes.add(tenant, -size);
    if (keys?.size === 0) this.#keysOf.delete(tenant);
  }

  #oldestOfLargest(): string | undefined {
    let largest = '';
    for (const tenant of this.#sizes.names) if (this.#sizes.of(tenant) > this.#sizes.of(largest)) largest = tenant;
    const [oldest] = this.#keysOf.get(largest) ?? [];
    return oldest;
  }
}
