/**
 * Finds where patterns end in a text (the Aho-Corasick automaton). The time depends only on the text, not on the
 * patterns.
 */
export class PatternSet {
  /** Length of the longest pattern that ends in a state; 0 if none does. */
  readonly #patternLength: Int32Array;
  readonly #fallback: Int32Array;
  /** Transitions of state 0, by byte. */
  readonly #first = new Int32Array(256);
  /** Transitions of the other states: a hash table from state and byte to state. */
  readonly #keys: Int32Array;
  readonly #targets: Int32Array;
  #states = 1;

  constructor(patterns: readonly Uint8Array[]) {
    const max = patterns.reduce((sum, { length }) => sum + length, 1);
    this.#patternLength = new Int32Array(max);
    this.#fallback = new Int32Array(max);
    const size = 2 ** Math.ceil(Math.log2(2 * max + 2));
    this.#keys = new Int32Array(size);
    this.#targets = new Int32Array(size);
    // For each state except the first, in order of creation: its predecessor, and the byte that leads to it.
    const parents = new Int32Array(max);
    const bytes = new Uint8Array(max);
    for (const pattern of patterns) this.#add(pattern, parents, bytes);
    this.#connect(parents, bytes);
  }

  /** Returns the state after one more byte of a text, which starts in state 0. */
  next(state: number, byte: number): number {
    let from = state;
    while (from !== 0) {
      const target = this.#child(from, byte);
      if (target !== 0) return target;
      from = this.#fallback[from] ?? 0;
    }
    return this.#first[byte] ?? 0;
  }

  /** Returns the length of the longest pattern that ends here; 0 if none does. */
  endingIn(state: number): number {
    return this.#patternLength[state] ?? 0;
  }

  #add(pattern: Uint8Array, parents: Int32Array, bytes: Uint8Array): void {
    let state = 0;
    for (const byte of pattern) {
      const known = this.#child(state, byte);
      if (known !== 0) {
        state = known;
        continue;
      }
      const made = this.#states++;
      parents[made] = state;
      bytes[made] = byte;
      this.#setChild(state, byte, made);
      state = made;
    }
    if (state !== 0) this.#patternLength[state] = pattern.length;
  }

  /** Connects fallbacks breadth first, because a state falls back to a shorter one. */
  #connect(parents: Int32Array, bytes: Uint8Array): void {
    const depths = new Int32Array(this.#states);
    for (let state = 1; state < this.#states; state++) depths[state] = (depths[parents[state] ?? 0] ?? 0) + 1;
    const byDepth = countingSort(depths);
    for (const state of byDepth) {
      if (state === 0) continue;
      const parent = parents[state] ?? 0;
      const fallback = parent === 0 ? 0 : this.next(this.#fallback[parent] ?? 0, bytes[state] ?? 0);
      this.#fallback[state] = fallback;
      if (this.#patternLength[state] === 0) this.#patternLength[state] = this.#patternLength[fallback] ?? 0;
    }
  }

  #child(state: number, byte: number): number {
    if (state === 0) return this.#first[byte] ?? 0;
    const key = state * 256 + byte;
    const last = this.#keys.length - 1;
    for (let slot = hashOf(key) & last; ; slot = (slot + 1) & last) {
      const found = this.#keys[slot];
      if (found === key) return this.#targets[slot] ?? 0;
      if (found === 0) return 0;
    }
  }

  #setChild(state: number, byte: number, target: number): void {
    if (state === 0) {
      this.#first[byte] = target;
      return;
    }
    const last = this.#keys.length - 1;
    let slot = hashOf(state * 256 + byte) & last;
    while (this.#keys[slot] !== 0) slot = (slot + 1) & last;
    this.#keys[slot] = state * 256 + byte;
    this.#targets[slot] = target;
  }
}

function hashOf(key: number): number {
  const mixed = Math.imul(key, 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}

/** Returns the indexes of small numbers, sorted by number. */
function countingSort(values: Int32Array): Int32Array {
  const max = values.reduce((max, value) => Math.max(max, value), 0);
  const offsets = new Int32Array(max + 2);
  for (const value of values) offsets[value + 1] = (offsets[value + 1] ?? 0) + 1;
  for (let value = 1; value < offsets.length; value++)
    offsets[value] = (offsets[value] ?? 0) + (offsets[value - 1] ?? 0);
  const sorted = new Int32Array(values.length);
  values.forEach((value, index) => {
    const offset = offsets[value] ?? 0;
    sorted[offset] = index;
    offsets[value] = offset + 1;
  });
  return sorted;
}
