/**
 * A pattern of names of branches and tags: `*` matches any characters except a slash, `**` any characters, `?` one
 * character except a slash. It matches the whole name.
 *
 * Users write patterns, and strangers name refs, so the time to match is bounded: proportional to the length of the name
 * for each 32 characters of the pattern.
 */
export class RefPattern {
  /** Words of 32 bits that hold a set of positions; position n means that n characters of the pattern are matched. */
  readonly #words: number;
  /** Positions that a character of this code advances, as an offset in `#masks`; others use the offset 0. */
  readonly #offsets = new Map<number, number>();
  readonly #masks: Uint32Array;
  /** Positions that any character except a slash leaves unchanged, and those that a slash leaves unchanged. */
  readonly #stays: Uint32Array;
  readonly #staysAtSlash: Uint32Array;
  readonly #end: number;

  constructor(pattern: string) {
    // Three or more asterisks mean the same as two.
    const tokens = pattern.match(/\*+|[^*]/gsu) ?? [];
    const characters = tokens.filter((token) => !token.startsWith('*'));
    this.#end = characters.length;
    this.#words = (this.#end >>> 5) + 1;
    const codes = [...new Set([slash, ...characters.flatMap((one) => (one === '?' ? [] : codeOf(one)))])];
    for (const [index, code] of codes.entries()) this.#offsets.set(code, (index + 1) * this.#words);
    this.#masks = new Uint32Array((codes.length + 1) * this.#words);
    this.#stays = new Uint32Array(this.#words);
    this.#staysAtSlash = new Uint32Array(this.#words);
    let position = 0;
    for (const token of tokens) {
      if (token.startsWith('*')) {
        setBit(this.#stays, 0, position);
        if (token.length > 1) setBit(this.#staysAtSlash, 0, position);
        continue;
      }
      if (token === '?') {
        setBit(this.#masks, 0, position);
        for (const [code, offset] of this.#offsets) if (code !== slash) setBit(this.#masks, offset, position);
      } else setBit(this.#masks, this.#offsets.get(codeOf(token)) ?? 0, position);
      position += 1;
    }
  }

  matches(name: string): boolean {
    const words = this.#words;
    const positions = new Uint32Array(words);
    positions[0] = 1;
    for (let at = 0; at < name.length;) {
      const code = name.codePointAt(at) ?? 0;
      at += code > 0xffff ? 2 : 1;
      const offset = this.#offsets.get(code) ?? 0;
      const stays = code === slash ? this.#staysAtSlash : this.#stays;
      let left = 0;
      // From the last word, so that each still finds the former value of the one before it.
      for (let word = words - 1; word >= 0; word -= 1) {
        const held = positions[word] ?? 0;
        const before = word === 0 ? 0 : (positions[word - 1] ?? 0) & (this.#masks[offset + word - 1] ?? 0);
        const advanced = ((held & (this.#masks[offset + word] ?? 0)) << 1) | (before >>> 31);
        positions[word] = advanced | (held & (stays[word] ?? 0));
        left |= positions[word] ?? 0;
      }
      if (left === 0) return false;
    }
    return (((positions[this.#end >>> 5] ?? 0) >>> (this.#end & 31)) & 1) === 1;
  }
}

const slash = 0x2f;

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function setBit(bits: Uint32Array, offset: number, position: number): void {
  const word = offset + (position >>> 5);
  bits[word] = (bits[word] ?? 0) | (1 << (position & 31));
}
