/**
 * Finds where patterns end in a text (the Aho-Corasick automaton). The time depends only on the text, not on the
 * patterns: there is no hash table, whose entries a chosen pattern could make collide. Uses at most 13 bytes of memory
 * per byte of the patterns, and 256 KiB.
 */
export class PatternSet {
  readonly isEmpty: boolean;
  /**
   * Where the children of each state start; they end where those of the next state start. States are numbered breadth
   * first, from the root, 0.
   */
  readonly #children: Int32Array;
  /** The byte that leads to a state from its parent; ascending among siblings. */
  readonly #bytes: Uint8Array;
  readonly #fallback: Int32Array;
  /** Length of the longest pattern that ends in a state; 0 if none does. */
  readonly #patternLength: Int32Array;
  /** The next states of state 0 and of its children, by state and byte: most texts are read in these. */
  readonly #near: Int32Array;
  readonly #lastNear: number;

  /** Each character of a pattern is a byte. */
  constructor(patterns: ReadonlySet<string>) {
    // JavaScript's default order is that of the bytes.
    const sorted = [...patterns].sort();
    const states = countStates(sorted);
    this.isEmpty = states === 1;
    this.#children = new Int32Array(states + 1);
    this.#bytes = new Uint8Array(states);
    this.#fallback = new Int32Array(states);
    this.#patternLength = new Int32Array(states);
    this.#addStates(sorted, states);
    this.#lastNear = (this.#children[1] ?? 1) - 1;
    this.#near = this.#nearStates();
    this.#connect(states);
  }

  /** Returns the state after one more byte of a text, which starts in state 0. */
  next(state: number, byte: number): number {
    let from = state;
    while (from > this.#lastNear) {
      const target = this.#child(from, byte);
      if (target !== 0) return target;
      from = this.#fallback[from] ?? 0;
    }
    return this.#near[from * 256 + byte] ?? 0;
  }

  /** Returns the length of the longest pattern that ends here; 0 if none does. */
  endingIn(state: number): number {
    return this.#patternLength[state] ?? 0;
  }

  #addStates(sorted: readonly string[], states: number): void {
    // Each state has the patterns that start with its bytes: a range of the sorted ones.
    const firsts = new Int32Array(states);
    const ends = new Int32Array(states);
    ends[0] = sorted.length;
    let made = 1;
    let depth = 0;
    let lastOfDepth = 0;
    for (let state = 0; state < states; state++) {
      if (state > lastOfDepth) {
        depth++;
        lastOfDepth = made - 1;
      }
      this.#children[state] = made;
      let from = firsts[state] ?? 0;
      const end = ends[state] ?? 0;
      if (sorted[from]?.length === depth) {
        this.#patternLength[state] = depth;
        from++;
      }
      while (from < end) {
        const byte = sorted[from]?.charCodeAt(depth) ?? 0;
        firsts[made] = from;
        while (from < end && sorted[from]?.charCodeAt(depth) === byte) from++;
        ends[made] = from;
        this.#bytes[made] = byte;
        made++;
      }
    }
    this.#children[states] = made;
  }

  #nearStates(): Int32Array {
    const near = new Int32Array((this.#lastNear + 1) * 256);
    for (let first = 1; first <= this.#lastNear; first++) {
      const byte = this.#bytes[first] ?? 0;
      for (let state = 0; state <= this.#lastNear; state++) near[state * 256 + byte] = first;
    }
    for (let state = 1; state <= this.#lastNear; state++) {
      const end = this.#children[state + 1] ?? 0;
      for (let child = this.#children[state] ?? 0; child < end; child++) {
        near[state * 256 + (this.#bytes[child] ?? 0)] = child;
      }
    }
    return near;
  }

  /** Connects fallbacks breadth first, because a state falls back to a shorter one. */
  #connect(states: number): void {
    for (let parent = 1; parent < states; parent++) {
      const end = this.#children[parent + 1] ?? 0;
      for (let state = this.#children[parent] ?? 0; state < end; state++) {
        const fallback = this.next(this.#fallback[parent] ?? 0, this.#bytes[state] ?? 0);
        this.#fallback[state] = fallback;
        if (this.#patternLength[state] === 0) this.#patternLength[state] = this.#patternLength[fallback] ?? 0;
      }
    }
  }

  /** Returns a state's child by binary search; 0 if it has none for this byte. */
  #child(state: number, byte: number): number {
    let low = this.#children[state] ?? 0;
    let high = this.#children[state + 1] ?? 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = this.#bytes[middle] ?? 0;
      if (found === byte) return middle;
      if (found < byte) low = middle + 1;
      else high = middle;
    }
    return 0;
  }
}

/** Returns how many different beginnings sorted patterns have, with the empty one. */
function countStates(sorted: readonly string[]): number {
  let states = 1;
  let previous = '';
  for (const pattern of sorted) {
    let shared = 0;
    while (shared < previous.length && pattern.charCodeAt(shared) === previous.charCodeAt(shared)) shared++;
    states += pattern.length - shared;
    previous = pattern;
  }
  return states;
}
