import { AsyncLocalStorage } from 'node:async_hooks';
import type { Flow } from '../../../fair-queue/fair-queue.ts';
import { FairSlots } from '../../../fair-queue/fair-slots.ts';

/** A tree with more entries is large: it takes more than 6 MB of memory. Most repositories have fewer. */
export const LARGE_TREE_ENTRIES = 20_000;

/**
 * Limits how many large trees are in memory at once. They are kept while files are read, which a slow host can draw out,
 * and all workers at once would exceed the operator's memory.
 */
export class LargeTrees {
  readonly #slots = new FairSlots(3);
  readonly #holders = new AsyncLocalStorage<true>();

  /**
   * Does the work with a tree of this many entries, once few others are in memory. Work within that of a large tree, for
   * an included repository, takes no slot of its own: both would wait for each other.
   */
  run<T>(flow: Flow, entries: number, work: () => Promise<T>): Promise<T> {
    if (entries <= LARGE_TREE_ENTRIES || this.#holders.getStore() === true) return work();
    return this.#slots.run(flow, () => this.#holders.run(true, work));
  }
}
