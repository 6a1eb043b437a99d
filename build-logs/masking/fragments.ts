/** Number of shared bytes to search for. */
export const WINDOW = 16;
/** Every window of a text up to this length is stored; every eighth window of a longer text. */
const maxWhole = 256;
const longStride = 8;
/** Shared parts of at least this length are found in long texts too. */
export const MIN_FRAGMENT = WINDOW + longStride - 1;

/**
 * The number that each byte adds to a hash. They differ in each process, because a secret could be chosen so that its
 * windows have known hashes in common. The byte that separates texts adds nothing.
 */
const hashes = randomNumbers();

/**
 * Finds parts of long texts in another text, as when an encoder splits them into lines of any length. Uses at most
 * four bytes of memory per byte of the texts, 25 if they are short; the time depends only on the searched text.
 */
export class Fragments {
  /** The texts, each followed by a zero. */
  readonly #texts: Uint8Array;
  /** Hash table from the hash of a window to its position plus one. */
  readonly #positions: Int32Array;
  readonly #hashes: Int32Array;
  readonly isEmpty: boolean;

  private constructor(texts: readonly Uint8Array[]) {
    this.isEmpty = texts.length === 0;
    this.#texts = new Uint8Array(texts.reduce((sum, { length }) => sum + length + 1, 0));
    const windows = texts.reduce((sum, { length }) => sum + Math.floor((length - WINDOW) / strideOf(length)) + 1, 0);
    const size = 2 ** Math.ceil(Math.log2(1.5 * windows + 2));
    this.#positions = new Int32Array(size);
    this.#hashes = new Int32Array(size);
  }

  /** Stores the windows of texts, and yields after each text. */
  static *create(texts: readonly Uint8Array[]): Generator<void, Fragments> {
    const long = texts.filter(({ length }) => length >= WINDOW);
    const fragments = new Fragments(long);
    let start = 0;
    for (const text of long) {
      fragments.#addText(text, start);
      start += text.length + 1;
      yield;
    }
    return fragments;
  }

  /** Returns whether a window with this hash of RollingHash may be in the texts. */
  mayHave(hash: number): boolean {
    const last = this.#positions.length - 1;
    for (let slot = slotOf(hash) & last; this.#positions[slot] !== 0; slot = (slot + 1) & last) {
      if (this.#hashes[slot] === hash) return true;
    }
    return false;
  }

  /** Returns the position in the texts of the window of `bytes` at `at`; -1 if it is unknown. */
  find(hash: number, bytes: Uint8Array, at: number): number {
    const last = this.#positions.length - 1;
    for (let slot = slotOf(hash) & last; ; slot = (slot + 1) & last) {
      const position = (this.#positions[slot] ?? 0) - 1;
      if (position === -1) return -1;
      if (this.#hashes[slot] === hash && this.sharedFrom(position, bytes, at, at + WINDOW) === WINDOW) return position;
    }
  }

  /** Returns how many bytes from `at` to before `end` equal those of a text from `position`. */
  sharedFrom(position: number, bytes: Uint8Array, at: number, end: number): number {
    let shared = 0;
    while (at + shared < end && (bytes[at + shared] ?? 0) === this.#texts[position + shared]) shared++;
    return shared;
  }

  /** Returns how many bytes before `at`, down to `start`, equal those of a text before `position`. */
  sharedBefore(position: number, bytes: Uint8Array, at: number, start: number): number {
    let shared = 0;
    while (at - shared > start && bytes[at - shared - 1] === this.#texts[position - shared - 1]) shared++;
    return shared;
  }

  /** Returns how many bytes of the text remain from `position`, up to `max`. */
  left(position: number, max: number): number {
    let left = 0;
    while (left < max && (this.#texts[position + left] ?? 0) !== 0) left++;
    return left;
  }

  #addText(text: Uint8Array, start: number): void {
    this.#texts.set(text, start);
    const stride = strideOf(text.length);
    for (let at = start; at + WINDOW <= start + text.length; at += stride) this.#add(at);
  }

  /** Stores a window; of equal windows only the first. */
  #add(at: number): void {
    const hash = hashOf(this.#texts, at);
    if (this.find(hash, this.#texts, at) !== -1) return;
    const last = this.#positions.length - 1;
    let slot = slotOf(hash) & last;
    while (this.#positions[slot] !== 0) slot = (slot + 1) & last;
    this.#positions[slot] = at + 1;
    this.#hashes[slot] = hash;
  }
}

function strideOf(length: number): number {
  return length <= maxWhole ? 1 : longStride;
}

/** The hash of the last bytes of a text, as many as a window has: a cyclic polynomial. */
export class RollingHash {
  readonly #window = new Uint8Array(WINDOW);
  #seen = 0;
  #hash = 0;

  reset(): void {
    this.#window.fill(0);
    this.#seen = 0;
    this.#hash = 0;
  }

  /** Returns the hash after one more byte. */
  next(byte: number): number {
    const index = this.#seen++ & (WINDOW - 1);
    const gone = this.#window[index] ?? 0;
    this.#window[index] = byte;
    this.#hash = rotated(this.#hash, 1) ^ rotated(hashes[gone] ?? 0, WINDOW) ^ (hashes[byte] ?? 0);
    return this.#hash;
  }

  /** Whether enough bytes for a window were read. */
  get isFull(): boolean {
    return this.#seen >= WINDOW;
  }
}

function hashOf(bytes: Uint8Array, at: number): number {
  let hash = 0;
  for (let index = at; index < at + WINDOW; index++) hash = rotated(hash, 1) ^ (hashes[bytes[index] ?? 0] ?? 0);
  return hash;
}

function rotated(hash: number, bits: number): number {
  return (hash << bits) | (hash >>> (32 - bits));
}

function slotOf(hash: number): number {
  const mixed = Math.imul(hash, 0x9e37_79b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

function randomNumbers(): Int32Array {
  const numbers = crypto.getRandomValues(new Int32Array(256));
  numbers[0] = 0;
  return numbers;
}
