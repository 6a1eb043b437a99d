import { matchesFilter, matchRanges, type LogFilter } from './log-filter.ts';
import type { LogLine } from './log-line.ts';
import { RowLayout } from './row-layout.ts';

/** The lines of a log that match a filter, their positions in the list, and the matches of a search. */
export class LogView {
  readonly rows: LogLine[] = [];
  readonly layout: RowLayout;
  /** Indexes of rows that match the search. */
  readonly found: number[] = [];
  readonly #filter: LogFilter;
  readonly #search: string;

  constructor(lines: readonly LogLine[], filter: LogFilter, search: string, columns?: number) {
    this.#filter = filter;
    this.#search = search;
    this.layout = new RowLayout(columns);
    this.add(lines);
  }

  /** Adds lines that have arrived since the last call. */
  add(lines: readonly LogLine[]): void {
    for (const line of lines) {
      if (!matchesFilter(line, this.#filter)) continue;
      if (this.#search !== '' && matchRanges(line.text, this.#search).length > 0) this.found.push(this.rows.length);
      this.rows.push(line);
      this.layout.push(line.text);
    }
  }

  /** Returns the index of the row with this seq, or of the first one after it; -1 if there is none. */
  indexOf(seq: number): number {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.rows[middle]?.seq ?? 0) < seq) low = middle + 1;
      else high = middle;
    }
    return low < this.rows.length ? low : -1;
  }
}

/** Returns the rows to render for a scroll position, with some extra rows on both sides. */
export function windowOf(
  layout: RowLayout,
  { top, height, rowHeight, margin = 12 }: { top: number; height: number; rowHeight: number; margin?: number },
): { first: number; last: number } {
  const first = Math.max(0, layout.indexAt(top / rowHeight) - margin);
  const last = Math.min(layout.count - 1, layout.indexAt((top + height) / rowHeight) + margin);
  return { first, last };
}
