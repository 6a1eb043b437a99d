/** What waits for a place, and by what it takes turns. */
export interface Turn {
  /** Whose work it is: parties take turns. */
  party: string;
  /** What may hang as a whole, such as a Git host: those of one party take turns. */
  key: string;
}

/** So much may be at work at once of each. */
export interface Most {
  party: number;
  /** Of one key over all parties. */
  key: number;
}

/**
 * What waits, and how much is at work. Turns go by party, and within a party by key, in each who came first; whose share
 * is at work is passed over. So neither a party's nor a key's work can keep another's waiting for all of it.
 */
export class Turns<T> {
  readonly #most: Most;
  /** By party and key, in the order of their turns: what is served goes to the end. */
  readonly #waiting = new Map<string, Map<string, T[]>>();
  readonly #partiesAtWork = new Map<string, number>();
  readonly #keysAtWork = new Map<string, number>();
  #size = 0;

  constructor(most: Most) {
    this.#most = most;
  }

  /** How much waits. */
  get size(): number {
    return this.#size;
  }

  push({ party, key }: Turn, item: T): void {
    const keys = this.#waiting.get(party) ?? new Map<string, T[]>();
    const items = keys.get(key) ?? [];
    items.push(item);
    keys.set(key, items);
    this.#waiting.set(party, keys);
    this.#size += 1;
  }

  /** What is next of that which may begin. It is at work until ended() with the same turn. */
  take(): T | undefined {
    for (const [party, keys] of this.#waiting) {
      if ((this.#partiesAtWork.get(party) ?? 0) >= this.#most.party) continue;
      for (const [key, items] of keys) {
        if ((this.#keysAtWork.get(key) ?? 0) >= this.#most.key) continue;
        const item = items.shift();
        keys.delete(key);
        if (items.length > 0) keys.set(key, items);
        this.#waiting.delete(party);
        if (keys.size > 0) this.#waiting.set(party, keys);
        this.#size -= 1;
        change(this.#partiesAtWork, party, 1);
        change(this.#keysAtWork, key, 1);
        return item;
      }
    }
    return undefined;
  }

  ended({ party, key }: Turn): void {
    change(this.#partiesAtWork, party, -1);
    change(this.#keysAtWork, key, -1);
  }
}

function change(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
