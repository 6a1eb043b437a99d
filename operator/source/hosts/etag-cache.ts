export interface CachedAnswer {
  etag: string;
  /** By lower-case name. */
  headers: Record<string, string>;
  /** JSON of the fields that were parsed from the body. */
  text: string;
}

/**
 * Caches the latest responses of Git hosts, separately for each caller that they distinguish; evicts the least recently
 * used.
 */
export class EtagCache {
  readonly #entries = new Map<string, CachedAnswer>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): CachedAnswer | undefined {
    const found = this.#entries.get(key);
    if (found) {
      this.#entries.delete(key);
      this.#entries.set(key, found);
    }
    return found;
  }

  set(key: string, answer: CachedAnswer): void {
    this.delete(key);
    const size = sizeOf(key, answer);
    if (size > this.#maxBytes) return;
    this.#entries.set(key, answer);
    this.#bytes += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const found = this.#entries.get(key);
    if (!found) return;
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, found);
  }
}

/** Returns the approximate size in bytes: two bytes per character, and 200 for the entry. */
function sizeOf(key: string, { etag, headers, text }: CachedAnswer): number {
  const named = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return 200 + 2 * (key.length + etag.length + text.length + named);
}
