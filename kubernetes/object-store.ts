/** Returns the index values of an object. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Stores objects by key and by indexes, like client-go's thread-safe store. */
export class ObjectStore<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, { valuesOf: IndexFunction<T>; keys: Map<string, Set<string>> }>;

  constructor(indexes: Record<string, IndexFunction<T>> = {}) {
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, { valuesOf, keys: new Map<string, Set<string>>() }]),
    );
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  entries(): [string, T][] {
    return [...this.#objects];
  }

  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new TypeError(`there is no index "${name}"`);
    const found: T[] = [];
    for (const key of index.keys.get(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  set(key: string, object: T): void {
    this.delete(key);
    this.#objects.set(key, object);
    for (const { valuesOf, keys } of this.#indexes.values()) {
      for (const value of valuesOf(object)) {
        const same = keys.get(value);
        if (same) same.add(key);
        else keys.set(value, new Set([key]));
      }
    }
  }

  delete(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    this.#objects.delete(key);
    for (const { valuesOf, keys } of this.#indexes.values()) {
      for (const value of valuesOf(object)) {
        const same = keys.get(value);
        same?.delete(key);
        if (same?.size === 0) keys.delete(value);
      }
    }
  }
}
