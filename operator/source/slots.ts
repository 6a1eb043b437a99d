import { Turns, type Turn } from '../../kubernetes/turns.ts';

/**
 * Lets so much work be done at once. A party has all places but one at the most, over all keys, and a key all but two:
 * what hangs leaves a place to the party's own work elsewhere, and a party one to the others.
 */
export class Slots {
  #free: number;
  readonly #turns: Turns<() => void>;

  constructor(count: number) {
    this.#free = count;
    this.#turns = new Turns({ party: Math.max(1, count - 1), key: Math.max(1, count - 2) });
  }

  async run<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.#turns.push(turn, begin);
      this.#beginNext();
    });
    try {
      return await work();
    } finally {
      this.#turns.ended(turn);
      this.#free += 1;
      this.#beginNext();
    }
  }

  #beginNext(): void {
    while (this.#free > 0) {
      const begin = this.#turns.take();
      if (!begin) return;
      this.#free -= 1;
      begin();
    }
  }
}
