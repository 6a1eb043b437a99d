import type { KnownEnvironment } from '../waker-protocol/messages.ts';

export interface RequestSlotLimits {
  /** How many requests wait at once. */
  max: number;
  /** How many of them for one environment. */
  maxPerEnvironment: number;
  /**
   * How many of them for the environments of one group; never more than are still free, so that no number of groups
   * takes all slots.
   */
  maxPerGroup: number;
}

/** Limits how many requests of one sort are open at once: each one takes a connection and its memory. */
export class RequestSlots {
  readonly #options: RequestSlotLimits;
  readonly #perEnvironment = new Map<string, number>();
  readonly #perGroup = new Map<string, number>();
  #total = 0;

  constructor(options: RequestSlotLimits) {
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
    const { max, maxPerEnvironment, maxPerGroup } = this.#options;
    const held = this.#perEnvironment.get(key) ?? 0;
    const ofGroup = this.#perGroup.get(groupOf(key)) ?? 0;
    if (held >= maxPerEnvironment || ofGroup >= Math.min(maxPerGroup, max - this.#total)) return undefined;
    this.#add(key, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(key, -1);
      isTaken = false;
    };
  }

  #add(key: string, count: 1 | -1): void {
    this.#total += count;
    addTo(this.#perEnvironment, key, count);
    addTo(this.#perGroup, groupOf(key), count);
  }
}

function addTo(counts: Map<string, number>, name: string, count: number): void {
  const sum = (counts.get(name) ?? 0) + count;
  if (sum > 0) counts.set(name, sum);
  else counts.delete(name);
}

/** Returns the namespace of an Environment's key, which is its group's. */
function groupOf(key: string): string {
  return key.split('/')[0] ?? '';
}
