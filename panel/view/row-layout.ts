/** Positions of a virtual list's rows, in units of one text line. A row that wraps takes several. */
export class RowLayout {
  /** Columns of a wrapped row; undefined if rows do not wrap. */
  readonly #columns: number | undefined;
  /** The top of each row that exists, then the end of the last one; only kept if rows wrap. */
  readonly #tops: number[] = [0];
  #count = 0;

  constructor(columns?: number) {
    this.#columns = columns === undefined ? undefined : Math.max(1, columns);
  }

  get count(): number {
    return this.#count;
  }

  /** The height of all rows together. */
  get height(): number {
    return this.#columns === undefined ? this.#count : (this.#tops[this.#count] ?? 0);
  }

  push(text: string): void {
    this.#count += 1;
    if (this.#columns === undefined) return;
    const lines = Math.max(1, Math.ceil(columnsOf(text) / this.#columns));
    this.#tops.push((this.#tops.at(-1) ?? 0) + lines);
  }

  topOf(index: number): number {
    return this.#columns === undefined ? index : (this.#tops[index] ?? this.height);
  }

  /** Returns the row at a height; the last row below the end. */
  indexAt(height: number): number {
    const last = Math.max(0, this.#count - 1);
    if (this.#columns === undefined) return Math.min(last, Math.max(0, Math.floor(height)));
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#tops[middle] ?? Infinity) <= height) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Characters that take two columns: East Asian wide ones and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/gu;
const isPlain = /^[\u0020-\u007e]*$/;

/** Returns the number of columns that a text takes in a monospace font. */
export function columnsOf(text: string): number {
  if (isPlain.test(text)) return text.length;
  return Array.from(text).length + (text.match(wide)?.length ?? 0);
}
