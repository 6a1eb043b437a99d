import type { Variable, VariableLookup } from '../variables.ts';
import { interpolate, InterpolationError } from './interpolation.ts';

/** Reported to the author; contains no values. */
export class DotenvError extends Error {
  override readonly name = 'DotenvError';
  readonly line: number;

  /** `line` counts from 1. */
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** `line` counts from 1. The message contains no values. */
export type DotenvWarn = (line: number, message: string) => void;

/** `export` can precede a name; a `:` can replace the `=`. */
const namePattern = /(?:export[^\S\n]+)?([\w.-]+)[^\S\n]*([=:]?)[^\S\n]*/y;
const blank = /(?:\s+|#[^\n]*)+/y;
const singleQuoted = /'((?:[^'\\]|\\[^])*)'/y;
const doubleQuoted = /"((?:[^"\\]|\\[^])*)"/y;
const unquoted = /[^\n]*/y;
/** Maximum length of all values of a file together: short lines can repeat a long value. */
const maxFilled = 256 * 1024;

/**
 * Parses the lines of an env file as Compose does: `NAME=value`, quotes, comments, and `${…}` outside single quotes,
 * filled from `variables` and earlier lines. A name without a value takes the variable's value, if it has one. A value
 * into which a buildtime variable, a secret or a ref's name is filled is marked like that variable. Calls `warn` once for each variable
 * that is not set. Throws DotenvError.
 */
export function parseDotenv(
  source: string,
  variables: VariableLookup,
  warn: DotenvWarn,
): ReadonlyMap<string, Variable> {
  return new DotenvReader(source.replace(/^\uFEFF/, ''), variables, warn).read();
}

class DotenvReader {
  readonly #text: string;
  readonly #variables: VariableLookup;
  readonly #warn: DotenvWarn;
  readonly #found = new Map<string, Variable>();
  readonly #unset = new Set<string>();
  #position = 0;
  /** Length of the values that variables were filled into. */
  #filled = 0;
  /** Position up to which lines were counted, so that each is counted once. */
  #counted = { position: 0, line: 1 };

  constructor(text: string, variables: VariableLookup, warn: DotenvWarn) {
    this.#text = text;
    this.#variables = variables;
    this.#warn = warn;
  }

  read(): ReadonlyMap<string, Variable> {
    for (this.#take(blank); this.#position < this.#text.length; this.#take(blank)) {
      const [, name, equals] =
        this.#take(namePattern) ?? this.#fail('is not of the form NAME=value: correct it, or start a comment with #');
      if (name === undefined) continue;
      if (equals !== '') this.#found.set(name, this.#readValue());
      else if (!/[\n]|$/y.test(this.#text.slice(this.#position, this.#position + 1)))
        this.#fail('is not of the form NAME=value: correct it, or start a comment with #');
      else this.#inherit(name);
    }
    return this.#found;
  }

  #inherit(name: string): void {
    const variable = this.#variables.get(name);
    if (variable === undefined) this.#reportUnset(name, 'it is left out: set it, or remove it here', this.#position);
    else this.#found.set(name, variable);
  }

  #readValue(): Variable {
    const start = this.#position;
    const quote = this.#text[this.#position];
    if (quote === "'") {
      const [, text = ''] = this.#take(singleQuoted) ?? this.#fail("has a ' that is not closed: close it");
      return { value: text.replaceAll("\\'", "'"), visibility: 'always' };
    }
    if (quote === '"') {
      const [, text = ''] = this.#take(doubleQuoted) ?? this.#fail('has a " that is not closed: close it');
      return this.#fill(unescape(text), start);
    }
    const [line = ''] = this.#take(unquoted) ?? [];
    return this.#fill(line.split(' #', 1)[0]?.trimEnd() ?? '', start);
  }

  #fill(text: string, start: number): Variable {
    try {
      const { text: value, used, unset } = interpolate(text, (name) => this.#lookup(name)?.value);
      this.#filled += value.length;
      if (this.#filled > maxFilled)
        this.#fail(`makes the file longer than ${maxFilled / 1024} KiB with its variables filled in. Shorten it`);
      for (const name of unset) this.#reportUnset(name, 'it is empty: set it, or write $$ for a literal $', start);
      const filled = [...used].map((name) => this.#lookup(name));
      const isBuildtime = filled.some((variable) => variable?.visibility === 'buildtime');
      const isSecret = filled.some((variable) => variable?.secret === true);
      const isFromRef = filled.some((variable) => variable?.fromRef === true);
      return {
        value,
        visibility: isBuildtime ? 'buildtime' : 'always',
        ...(isSecret && { secret: true }),
        ...(isFromRef && { fromRef: true }),
      };
    } catch (error) {
      if (error instanceof InterpolationError) return this.#fail(error.message);
      throw error;
    }
  }

  #reportUnset(name: string, consequence: string, position: number): void {
    if (this.#unset.has(name)) return;
    this.#unset.add(name);
    const lines = this.#text.slice(this.#counted.position, position).split('\n').length - 1;
    this.#counted = { position, line: this.#counted.line + lines };
    this.#warn(this.#counted.line, `the variable ${name} is not set, so ${consequence}`);
  }

  #lookup(name: string): Variable | undefined {
    return this.#variables.get(name) ?? this.#found.get(name);
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text) ?? undefined;
    this.#position += found?.[0].length ?? 0;
    return found;
  }

  #fail(message: string): never {
    throw new DotenvError(this.#text.slice(0, this.#position).split('\n').length, message);
  }
}

const ESCAPES = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['"', '"'],
  ['\\', '\\'],
  // Variables are filled in later: $$ becomes a literal $.
  ['$', '$$'],
]);

function unescape(text: string): string {
  return text.replaceAll(/\\([^])/g, (found, character: string) => ESCAPES.get(character) ?? found);
}
