import { quoted } from '../problems.ts';

/**
 * The result of filling in a text: `used` are the variables whose values it contains, `unset` those that are not set
 * and were replaced by nothing.
 */
export interface Interpolated {
  text: string;
  used: ReadonlySet<string>;
  unset: ReadonlySet<string>;
}

/** Returns a variable's value; undefined if it is not set. */
export type Lookup = (name: string) => string | undefined;

/** Reported to the author; contains no variable's value. */
export class InterpolationError extends Error {
  override readonly name = 'InterpolationError';
}

const maxDepth = 16;
/** Maximum number of characters of a text with its variables filled in. */
const maxLength = 128 * 1024;
const namePattern = /[A-Za-z_]\w*/y;
const operatorPattern = /:?[-?+]/y;

/**
 * Fills variables into a text by the Compose Specification's grammar: `$$`, `$NAME`, `${NAME}`, `${NAME:-default}`,
 * `${NAME-default}`, `${NAME:?message}`, `${NAME?message}`, `${NAME:+replacement}`, `${NAME+replacement}`, which can be
 * nested after the operator. Any other `$` is literal. Throws InterpolationError.
 */
export function interpolate(text: string, lookup: Lookup): Interpolated {
  if (!text.includes('$')) return { text, used: new Set(), unset: new Set() };
  const filler = new Filler(text, lookup);
  return { text: filler.fill(), used: filler.used, unset: filler.unset };
}

/** Fills in a text in one pass. */
class Filler {
  readonly used = new Set<string>();
  readonly unset = new Set<string>();
  readonly #text: string;
  readonly #lookup: Lookup;
  #position = 0;
  #length = 0;

  constructor(text: string, lookup: Lookup) {
    this.#text = text;
    this.#lookup = lookup;
  }

  fill(): string {
    return this.#fillUntilEnd(0, true);
  }

  /** Reads to the end of the text, or inside braces to the matching `}`. Discards the result unless `wanted`. */
  #fillUntilEnd(depth: number, wanted: boolean): string {
    if (depth > maxDepth)
      throw new InterpolationError(`has variables that are nested more than ${maxDepth} deep. Nest fewer`);
    const special = depth === 0 ? /\$/g : /[${}]/g;
    let filled = '';
    let open = 0;
    while (this.#position < this.#text.length) {
      special.lastIndex = this.#position;
      const next = special.exec(this.#text)?.index ?? this.#text.length;
      filled += this.#text.slice(this.#position, next);
      this.#position = next;
      const found = this.#text[next];
      if (found === '}' && open === 0) break;
      if (found === '$') {
        const value = this.#fillDollar(depth, wanted);
        this.#length += value.length;
        if (this.#length > maxLength)
          throw new InterpolationError(
            `is longer than ${maxLength / 1024} KiB with its variables filled in. Shorten it`,
          );
        filled += value;
      } else if (found !== undefined) {
        open += found === '{' ? 1 : -1;
        filled += found;
        this.#position += 1;
      }
    }
    return filled;
  }

  #fillDollar(depth: number, wanted: boolean): string {
    this.#position += 1;
    const after = this.#text[this.#position];
    if (after === '$') {
      this.#position += 1;
      return '$';
    }
    if (after === '{') return this.#fillBraces(depth, wanted);
    const name = this.#take(namePattern);
    return name === undefined ? '$' : this.#value(name, wanted);
  }

  #fillBraces(depth: number, wanted: boolean): string {
    this.#position += 1;
    const name = this.#take(namePattern);
    if (name === undefined) throw new InterpolationError('has "${" without a name after it: write $$ for a literal $');
    const operator = this.#take(operatorPattern);
    const value = this.#lookup(name);
    const isThere = operator?.startsWith(':') === true ? value !== undefined && value !== '' : value !== undefined;
    const kind = operator?.at(-1);
    const start = this.#position;
    const rest =
      operator === undefined ? '' : this.#fillUntilEnd(depth + 1, wanted && (kind === '+' ? isThere : !isThere));
    if (this.#text[this.#position] !== '}') throw new InterpolationError(unclosed(name, operator));
    const written = this.#text.slice(start, this.#position).trim();
    this.#position += 1;
    if (!wanted) return '';
    if (kind === '+') return isThere ? rest : '';
    if (operator === undefined || isThere) return this.#value(name, wanted);
    if (kind === '-') return rest;
    const why = value === undefined ? 'is not set' : 'is empty';
    throw new InterpolationError(
      `needs the variable ${name}, which ${why}${written === '' ? '' : ` (${quoted(written)})`}: set it`,
    );
  }

  #value(name: string, wanted: boolean): string {
    if (!wanted) return '';
    const value = this.#lookup(name);
    (value === undefined ? this.unset : this.used).add(name);
    return value ?? '';
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0];
    this.#position += found?.length ?? 0;
    return found;
  }
}

function unclosed(name: string, operator: string | undefined): string {
  if (operator !== undefined) return `has \${${name}${operator} without the closing }: add it`;
  return `has \${${name} followed by something other than :- - :? ? :+ + and }: write $$ for a literal $`;
}
