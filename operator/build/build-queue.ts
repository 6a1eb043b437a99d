export interface QueueLimits {
  /** Builds at once, of all groups together. */
  total: number;
  perGroup: number;
}

/** A build, of all of the installation's. */
export interface QueuedBuild {
  id: string;
  group: string;
  /** Of the Environment, which is looked at again when it may be its turn. */
  environmentKey: string;
}

export interface Place {
  /** From 1. */
  place: number;
  of: number;
}

export interface BuildQueueOptions {
  limits: QueueLimits;
  /** The builds whose Jobs work. */
  running: () => readonly Pick<QueuedBuild, 'id' | 'group'>[];
  enqueue: (environmentKey: string) => void;
  now: () => number;
}

interface Entry extends QueuedBuild {
  since: number;
  lastSeen: number;
}

/** A build that has not asked for so long is none any more: it was cancelled, or its environment is gone. */
const FORGET_MS = 120_000;

/**
 * Lets so many builds work at once, of each group so many. Whoever leads holds it in memory: what works is told by the
 * Jobs, and what waits asks again.
 */
export class BuildQueue {
  readonly #options: BuildQueueOptions;
  readonly #waiting = new Map<string, Entry>();
  /** It is their turn, and their Jobs are not there yet. */
  readonly #admitted = new Map<string, Entry>();
  /** The places of those that wait; undefined when something has changed since. */
  #places: Map<string, number> | undefined;

  constructor(options: BuildQueueOptions) {
    this.#options = options;
  }

  /** Undefined when it is the build's turn; otherwise its place. What is told to wait asks again within two minutes. */
  placeOf(build: QueuedBuild): Place | undefined {
    const now = this.#options.now();
    this.#forget(now);
    const admitted = this.#admitted.get(build.id);
    if (admitted) {
      admitted.lastSeen = now;
      return undefined;
    }
    const waiting = this.#waiting.get(build.id);
    if (waiting) waiting.lastSeen = now;
    else this.#waiting.set(build.id, { ...build, since: now, lastSeen: now });
    if (!waiting || !this.#places) this.#admit();
    if (this.#admitted.has(build.id)) return undefined;
    this.#places ??= this.#order();
    return { place: this.#places.get(build.id) ?? 1, of: this.#places.size };
  }

  /** Whether it was told to wait. */
  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  /** A build needs no Job any more. */
  leave(id: string): void {
    const wasThere = this.#waiting.delete(id) || this.#admitted.delete(id);
    if (wasThere) this.wake();
  }

  /** A Job has ended: whose turn it is by that, is looked at. */
  wake(): void {
    this.#forget(this.#options.now());
    for (const { environmentKey } of this.#admit()) this.#options.enqueue(environmentKey);
  }

  #order(): Map<string, number> {
    const order = fairOrder(this.#working(), [...this.#waiting.values()]);
    return new Map(order.map(({ id }, index) => [id, index + 1]));
  }

  #admit(): Entry[] {
    this.#places = undefined;
    const next = admissible(this.#options.limits, this.#working(), [...this.#waiting.values()]);
    for (const entry of next) {
      this.#waiting.delete(entry.id);
      this.#admitted.set(entry.id, entry);
    }
    return next;
  }

  /** The group of each build that works, or is about to. */
  #working(): string[] {
    const running = this.#options.running();
    for (const { id } of running) this.#admitted.delete(id);
    return [...running, ...this.#admitted.values()].map(({ group }) => group);
  }

  #forget(now: number): void {
    for (const entries of [this.#waiting, this.#admitted]) {
      for (const [id, { lastSeen }] of entries) {
        if (now - lastSeen <= FORGET_MS) continue;
        entries.delete(id);
        this.#places = undefined;
      }
    }
  }
}

/** Those of the waiting that may begin now. */
export function admissible<T extends { group: string; since: number }>(
  { total, perGroup }: QueueLimits,
  working: readonly string[],
  waiting: readonly T[],
): T[] {
  const counts = countsOf(working);
  const admitted: T[] = [];
  for (const entry of fairOrder(working, waiting)) {
    if (working.length + admitted.length >= total) break;
    const count = counts.get(entry.group) ?? 0;
    if (count >= perGroup) continue;
    counts.set(entry.group, count + 1);
    admitted.push(entry);
  }
  return admitted;
}

/**
 * The group with the fewest builds comes next, of two such the one that has waited longest; within a group first come,
 * first served. So one group's hundred builds keep another's one waiting for one at the most.
 */
export function fairOrder<T extends { group: string; since: number }>(
  working: readonly string[],
  waiting: readonly T[],
): T[] {
  const counts = countsOf(working);
  const queues = Map.groupBy(
    waiting.toSorted((a, b) => a.since - b.since),
    ({ group }) => group,
  );
  const turns = [...queues].flatMap(([group, entries]) =>
    entries.map((entry, index) => ({ entry, round: (counts.get(group) ?? 0) + index })),
  );
  return turns.sort((a, b) => a.round - b.round || a.entry.since - b.entry.since).map(({ entry }) => entry);
}

function countsOf(groups: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const group of groups) counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

/** Builds that are not trusted wait for the throwaway builders, and take no place of those that are. */
export class BuildQueues {
  readonly #trusted: BuildQueue;
  readonly #untrusted: BuildQueue;

  constructor(trusted: BuildQueue, untrusted: BuildQueue) {
    this.#trusted = trusted;
    this.#untrusted = untrusted;
  }

  of(trusted: boolean): BuildQueue {
    return trusted ? this.#trusted : this.#untrusted;
  }

  /** A build that is over, however it ended, takes no place. */
  leave(id: string): void {
    this.#trusted.leave(id);
    this.#untrusted.leave(id);
  }

  wake(): void {
    this.#trusted.wake();
    this.#untrusted.wake();
  }
}
