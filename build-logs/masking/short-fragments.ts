/** Number of shared bytes to search for. */
export const SHORT_WINDOW = 8;

/** Odd, and different in each process, because a text could be chosen so that its parts have a slot in common. */
const [highFactor = 1, lowFactor = 1] = crypto.getRandomValues(new Int32Array(2)).map((factor) => factor | 1);

/**
 * Finds all parts of SHORT_WINDOW bytes of short texts in another text. Uses at most 24 bytes of memory per part; the
 * time depends only on the searched text.
 */
export class ShortFragments {
  readonly isEmpty: boolean;
  /** Hash table of the parts: their first four bytes, and their last four. An empty slot has zeros. */
  readonly #highs: Int32Array;
  readonly #lows: Int32Array;
  readonly #shift: number;
  /** The last bytes that were read, as the parts are stored. */
  #high = 0;
  #low = 0;

  /** Each character of a text is a byte other than 0. */
  constructor(texts: ReadonlySet<string>) {
    let parts = 0;
    for (const { length } of texts) parts += Math.max(0, length - SHORT_WINDOW + 1);
    this.isEmpty = parts === 0;
    const bits = Math.ceil(Math.log2(1.5 * parts + 2));
    this.#shift = 32 - bits;
    this.#highs = new Int32Array(2 ** bits);
    this.#lows = new Int32Array(2 ** bits);
    for (const text of texts) {
      this.start();
      for (let index = 0; index < text.length; index++) {
        this.#read(text.charCodeAt(index));
        if (index >= SHORT_WINDOW - 1) this.#add();
      }
    }
  }

  /** Starts to search in another text. */
  start(): void {
    this.#high = 0;
    this.#low = 0;
  }

  /** Reads one more byte. Returns whether the last SHORT_WINDOW bytes are a part of a text. */
  isFoundBy(byte: number): boolean {
    this.#read(byte);
    const slot = this.#firstSlot();
    // Most slots are empty.
    if (this.#lows[slot] === 0) return false;
    return this.#lows[this.#slotFrom(slot)] !== 0;
  }

  #read(byte: number): void {
    this.#high = (this.#high << 8) | (this.#low >>> 24);
    this.#low = (this.#low << 8) | byte;
  }

  #add(): void {
    const slot = this.#slotFrom(this.#firstSlot());
    this.#highs[slot] = this.#high;
    this.#lows[slot] = this.#low;
  }

  #firstSlot(): number {
    return (Math.imul(this.#high, highFactor) + Math.imul(this.#low, lowFactor)) >>> this.#shift;
  }

  /** Returns the slot of the last bytes that were read, or the empty one where they belong. */
  #slotFrom(first: number): number {
    const last = this.#lows.length - 1;
    let slot = first;
    while (this.#lows[slot] !== 0 && (this.#lows[slot] !== this.#low || this.#highs[slot] !== this.#high)) {
      slot = (slot + 1) & last;
    }
    return slot;
  }
}
