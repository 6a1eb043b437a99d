import type { RunLimits } from '../config.ts';

/** Whose turn it is, and what to do. */
export interface Turn {
  group: string;
  id: string;
}

/**
 * Runs that wait, and how many are at work. Groups take turns, in each who came first; one whose share is at work is
 * passed over. So a group that fills its share of the queue keeps nobody else's run waiting for it.
 */
export class FairQueue {
  readonly #limits: RunLimits;
  /** By group, in the order of their turns: one that was served goes to the end. */
  readonly #waiting = new Map<string, string[]>();
  readonly #waitingOf = new Map<string, number>();
  readonly #atWorkOf = new Map<string, number>();
  #places = 0;
  #atWork = 0;

  constructor(limits: RunLimits) {
    this.#limits = limits;
  }

  /** Places taken: of what waits, and of what is about to. */
  get waiting(): number {
    return this.#places;
  }

  get atWork(): number {
    return this.#atWork;
  }

  /**
   * Takes a place for what is about to be pushed. In a full queue a group of which less waits than of others on average
   * still has one, so that those who came first, however many, keep nobody out: one place for each group that waits is
   * beyond the total.
   * @returns false where the group's share of the queue, or the queue, is full.
   */
  reserve(group: string): boolean {
    const { total, perGroup } = this.#limits.waiting;
    const mine = this.#waitingOf.get(group) ?? 0;
    const groups = this.#waitingOf.size + (mine === 0 ? 1 : 0);
    const fair = Math.max(1, Math.floor(total / groups));
    if (mine >= perGroup || (this.#places >= total && mine >= fair)) return false;
    if (mine > 0 && this.#places >= total + groups) return false;
    this.#change(group, 1);
    return true;
  }

  /** Gives a place back that nothing was pushed for. */
  release(group: string): void {
    this.#change(group, -1);
  }

  /** What a place was reserved for. */
  push({ group, id }: Turn): void {
    const ids = this.#waiting.get(group) ?? [];
    ids.push(id);
    this.#waiting.set(group, ids);
  }

  /** What was accepted before and waits since: it has its place, whatever the limits are now. */
  restore(turn: Turn): void {
    this.#change(turn.group, 1);
    this.push(turn);
  }

  /** The next that may begin. It is at work until ended(). */
  take(): Turn | undefined {
    const { total, perGroup } = this.#limits.atWork;
    if (this.#atWork >= total) return undefined;
    for (const [group, ids] of this.#waiting) {
      if ((this.#atWorkOf.get(group) ?? 0) >= perGroup) continue;
      const id = ids.shift();
      this.#waiting.delete(group);
      if (id === undefined) continue;
      if (ids.length > 0) this.#waiting.set(group, ids);
      this.#change(group, -1);
      this.#atWork += 1;
      add(this.#atWorkOf, group, 1);
      return { group, id };
    }
    return undefined;
  }

  ended(group: string): void {
    this.#atWork -= 1;
    add(this.#atWorkOf, group, -1);
  }

  #change(group: string, by: 1 | -1): void {
    this.#places += by;
    add(this.#waitingOf, group, by);
  }
}

function add(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
