import type { ChangedObject } from './change.ts';

/** If more objects of a group change between two flushes, one event `reset` is sent instead of all of them. */
const maxPending = 200;
/** Minimum interval between two such events of one group. */
const resetEveryMs = 5000;

interface GroupBacklog {
  /** Changed objects by kind and key. After several changes of one object, only the newest state is sent. */
  pending: Map<string, ChangedObject>;
  /** When an event `reset` replaces the changes; undefined if they are few. */
  resetAt: number | undefined;
}

/** What is to be sent of one group. */
export interface Batch {
  group: string;
  /** Empty if `isReset`. */
  objects: ChangedObject[];
  isReset: boolean;
}

/** Changes that have not been sent yet, by group, each object once. */
export class Backlog {
  readonly #groups = new Map<string, GroupBacklog>();
  readonly #lastReset = new Map<string, number>();

  add(object: ChangedObject, now: number): void {
    const { group } = object;
    const backlog = this.#groups.get(group) ?? { pending: new Map<string, ChangedObject>(), resetAt: undefined };
    this.#groups.set(group, backlog);
    if (backlog.resetAt !== undefined) return;
    backlog.pending.set(`${object.kind} ${object.key}`, object);
    if (backlog.pending.size > maxPending) this.replace(group, now);
  }

  /** Replaces the changes of a group by an event `reset`, now or after the interval. */
  replace(group: string, now: number): void {
    const resetAt = Math.max(now, (this.#lastReset.get(group) ?? -Infinity) + resetEveryMs);
    this.#groups.set(group, { pending: new Map(), resetAt });
  }

  /** Returns what is to be sent now, and forgets it. */
  take(now: number): Batch[] {
    for (const [group, at] of this.#lastReset) if (now - at >= resetEveryMs) this.#lastReset.delete(group);
    const batches: Batch[] = [];
    for (const [group, { pending, resetAt }] of this.#groups) {
      const isReset = resetAt !== undefined;
      if (isReset && resetAt > now) continue;
      this.#groups.delete(group);
      if (isReset) this.#lastReset.set(group, now);
      batches.push({ group, objects: [...pending.values()], isReset });
    }
    return batches;
  }

  /** When something is to be sent next; undefined if there is nothing. */
  nextAt(now: number): number | undefined {
    const times = [...this.#groups.values()].map(({ resetAt }) => resetAt ?? now);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }
}
