import { PatternSet } from '../pattern-search/pattern-set.ts';
import type { Variables } from './variables.ts';

/**
 * Minimum length of values to mask; shorter ones are parts of too many words. Texts that consist of one variable are
 * replaced by what the file contains.
 */
const minMasked = 4;

/**
 * Replaces the values of variables in texts by `${NAME}`. String.replaceAll() would compare each value with each text,
 * and values can be chosen so that it compares all characters of both.
 */
export class VariableMask {
  readonly #variables: Variables;
  /** Created with the first text: most service files have no problems. */
  #table: { patterns: PatternSet; names: ReadonlyMap<string, string> } | undefined;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  /** Returns the text without the values, as they are or as JSON escapes them. Names the one with most characters where several overlap. */
  apply(text: string): string {
    this.#table ??= tableOf(this.#variables);
    const { patterns, names } = this.#table;
    if (patterns.isEmpty) return text;
    const bytes = Buffer.from(text);
    let shown = '';
    let position = 0;
    for (const { start, end, max } of matchesIn(bytes, patterns)) {
      const name = names.get(bytes.toString('latin1', max.end - max.length, max.end)) ?? '';
      shown += `${bytes.toString('utf8', position, start)}\${${name}}`;
      position = end;
    }
    return shown + bytes.toString('utf8', position);
  }
}

function tableOf(variables: Variables): { patterns: PatternSet; names: ReadonlyMap<string, string> } {
  const names = new Map<string, string>();
  for (const [name, { value }] of variables) {
    if (value.length < minMasked) continue;
    for (const form of [value, JSON.stringify(value).slice(1, -1)]) {
      const pattern = Buffer.from(form).toString('latin1');
      if (!names.has(pattern)) names.set(pattern, name);
    }
  }
  return { patterns: new PatternSet(new Set(names.keys())), names };
}

/** Bytes of a text that one or several overlapping values cover. */
interface Match {
  start: number;
  end: number;
  max: { end: number; length: number };
}

function matchesIn(bytes: Uint8Array, patterns: PatternSet): Match[] {
  const matches: Match[] = [];
  let state = 0;
  for (const [index, byte] of bytes.entries()) {
    state = patterns.next(state, byte);
    const length = patterns.endingIn(state);
    if (length === 0) continue;
    const end = index + 1;
    const match: Match = { start: end - length, end, max: { end, length } };
    // A longer value can cover several earlier ones.
    for (let last = matches.at(-1); last && last.end > match.start; last = matches.at(-1)) {
      match.start = Math.min(match.start, last.start);
      if (last.max.length >= match.max.length) match.max = last.max;
      matches.pop();
    }
    matches.push(match);
  }
  return matches;
}
