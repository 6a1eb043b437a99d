import type { KnownEnvironment } from '../waker-protocol/messages.ts';

export interface HeldRequestsOptions {
  /** How many requests wait at once. */
  max: number;
  /** How many of them for one environment. */
  maxPerEnvironment: number;
}

/** Counts the requests that wait for services: each one takes a connection and its memory. */
export class HeldRequests {
  readonly #options: HeldRequestsOptions;
  readonly #perEnvironment = new Map<string, number>();
  #total = 0;

  constructor(options: HeldRequestsOptions) {
    this.#options = options;
  }

  get total(): number {
    return this.#total;
  }

  /** The environments that somebody waits for. */
  get keys(): string[] {
    return [...this.#perEnvironment.keys()];
  }

  /** Takes a slot for a request. Returns undefined if there is none, or else a function that gives it back. */
  take({ key }: Pick<KnownEnvironment, 'key'>): (() => void) | undefined {
    const { max, maxPerEnvironment } = this.#options;
    const held = this.#perEnvironment.get(key) ?? 0;
    if (this.#total >= max || held >= maxPerEnvironment) return undefined;
    this.#add(key, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(key, -1);
      isTaken = false;
    };
  }

  #add(key: string, count: 1 | -1): void {
    this.#total += count;
    const held = (this.#perEnvironment.get(key) ?? 0) + count;
    if (held > 0) this.#perEnvironment.set(key, held);
    else this.#perEnvironment.delete(key);
  }
}
