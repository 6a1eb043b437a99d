import { isUnseen, withoutSequences } from './controls.ts';
import {
  foldedByte,
  readCanonical,
  readExactly,
  readSeen,
  utf8Bytes,
  type CanonicalText,
} from './masking/canonical-text.ts';
import { Fragments, RollingHash, WINDOW } from './masking/fragments.ts';
import { completed } from './masking/gradual-works.ts';
import { PatternSet } from '../pattern-search/pattern-set.ts';
import { secretForms, type SecretForms } from './masking/secret-forms.ts';
import { SHORT_WINDOW, ShortFragments } from './masking/short-fragments.ts';

const placeholder = '***';
/** Matches lines that may read differently once escapes are decoded or terminal sequences removed. */
const escapes = /%[0-9a-f]{2}|&[#a-z]|\\[ux0-7]/i;
// oxlint-disable-next-line no-control-regex
const sequenceStarts = /[\u001b\u0080-\u009f]/;
const mayHaveUnseen = /[^\t -~]/;

/** Where a line ended inside a base64 text, whose continuation in the next lines is masked too. */
export interface LineEnd {
  /** Position in the known texts. */
  position: number;
  /** Number of further lines in which the continuation is searched. */
  lines: number;
}

/** Masks secrets in a line; `before` is the result of the previous lines of the same writer. */
export type LineMask = (line: string, before?: LineEnd) => { line: string; end?: LineEnd | undefined };

/** BuildKit prefixes lines with a number and a time, and interleaves lines of other steps. */
const linesInBetween = 8;
/** A shorter rest of a base64 text is not searched. */
const minRest = 4;
const maxRest = 8;
/**
 * Maximum distance between two parts of a base64 text in one line: an escaped newline, and the indentation of the next
 * line.
 */
const maxGap = 24;

/**
 * Returns a function that masks secrets in a text: in their original form, with invisible characters in between, and as
 * shells, URLs, JSON, HTML and base64 encode them (docs/reference/masking.md lists what is not covered). The time
 * depends only on the text's length; the memory on the secrets, up to a limit.
 */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const mask = createLineMask(secrets);
  return (text) => maskLines(mask, text);
}

/** Masks a text of several lines. */
export function maskLines(mask: LineMask, text: string): string {
  let end: LineEnd | undefined;
  return text
    .split('\n')
    .map((line) => {
      const masked = mask(line, end);
      end = masked.end;
      return masked.line;
    })
    .join('\n');
}

/**
 * Returns a function like that of createMask() for the lines of a log: a base64-encoded secret can be spread over
 * several lines.
 */
export function createLineMask(secrets: readonly string[]): LineMask {
  return completed(lineMaskSteps(secrets));
}

/** Creates what createLineMask() returns, and yields between its steps. */
export function* lineMaskSteps(secrets: readonly string[]): Generator<void, LineMask> {
  const forms = yield* secretForms(secrets);
  if (forms.patterns.size + forms.literals.size === 0) return (line) => ({ line });
  const finder = yield* Finder.create(forms);
  return (line, before) => {
    if (!before && !finder.mayHaveSecrets(line)) return { line };
    const { hits, end } = finder.find(line, before);
    return { line: hide(line, hits), end: end ?? fading(before) };
  };
}

function fading(before: LineEnd | undefined): LineEnd | undefined {
  return before && before.lines > 1 ? { ...before, lines: before.lines - 1 } : undefined;
}

type Hit = [start: number, end: number];

class Finder {
  readonly #patterns: PatternSet;
  readonly #literals: PatternSet;
  readonly #fragments: Fragments;
  readonly #shortFragments: ShortFragments;
  readonly #hash = new RollingHash();
  #state = 0;
  /** How each ASCII character is compared. */
  readonly #folded = Uint8Array.from({ length: 0x80 }, (_, byte) => foldedByte(byte));

  private constructor(
    patterns: PatternSet,
    literals: PatternSet,
    fragments: Fragments,
    shortFragments: ShortFragments,
  ) {
    this.#patterns = patterns;
    this.#literals = literals;
    this.#fragments = fragments;
    this.#shortFragments = shortFragments;
  }

  /** Creates the tables, and yields between them. */
  static *create({ patterns, literals, shortTexts, texts }: SecretForms): Generator<void, Finder> {
    const patternSet = new PatternSet(patterns);
    yield;
    const literalSet = new PatternSet(literals);
    yield;
    const fragments = yield* Fragments.create(texts);
    return new Finder(patternSet, literalSet, fragments, new ShortFragments(shortTexts));
  }

  /**
   * Returns whether a line needs a closer look. Most do not, and are scanned once, and once more for colours and for
   * escapes.
   */
  mayHaveSecrets(line: string): boolean {
    if (this.#mayHave(line) || this.#hasLiteral(line)) return true;
    const hasSequences = sequenceStarts.test(line);
    if (hasSequences && this.#mayHave(withoutSequences(line))) return true;
    if (!mayHaveEscapes(line)) return false;
    return this.#mayHaveDecoded(line, false) || (hasSequences && this.#mayHaveDecoded(line, true));
  }

  /** Scans the line without decoding, except for invisible characters. */
  #mayHave(line: string): boolean {
    this.#start();
    for (let index = 0; index < line.length; index++) {
      const unit = line.charCodeAt(index);
      if (unit >= 0x80) {
        const codePoint = line.codePointAt(index) ?? 0;
        if (codePoint > 0xffff) index++;
        if (!isUnseen(codePoint) && utf8Bytes(codePoint).some((byte) => this.#isFoundBy(byte))) return true;
        continue;
      }
      const byte = this.#folded[unit] ?? 0;
      if (byte !== 0 && this.#isFoundBy(byte)) return true;
    }
    return false;
  }

  #hasLiteral(line: string): boolean {
    if (this.#literals.isEmpty) return false;
    return plainReadings(line).some((read) => {
      const { bytes, length } = read();
      let state = 0;
      for (let index = 0; index < length; index++) {
        state = this.#literals.next(state, bytes[index] ?? 0);
        if (this.#literals.endingIn(state) !== 0) return true;
      }
      return false;
    });
  }

  #mayHaveDecoded(line: string, isStripped: boolean): boolean {
    const { bytes, length } = readCanonical(line, { withoutSequences: isStripped, decoded: true });
    this.#start();
    for (let index = 0; index < length; index++) {
      if (this.#isFoundBy(bytes[index] ?? 0)) return true;
    }
    return false;
  }

  #start(): void {
    this.#state = 0;
    this.#hash.reset();
    this.#shortFragments.start();
  }

  /**
   * Reads one more byte. Returns whether a pattern ends here, or whether the last bytes may be part of base64: the
   * hash alone can be wrong, so find() compares the bytes.
   */
  #isFoundBy(byte: number): boolean {
    this.#state = this.#patterns.next(this.#state, byte);
    if (this.#state !== 0 && this.#patterns.endingIn(this.#state) !== 0) return true;
    if (!this.#shortFragments.isEmpty && this.#shortFragments.isFoundBy(byte)) return true;
    if (this.#fragments.isEmpty) return false;
    const hash = this.#hash.next(byte);
    return this.#hash.isFull && this.#fragments.mayHave(hash);
  }

  /** Searches a line in each form in which it can be read. */
  find(line: string, before: LineEnd | undefined): { hits: Hit[]; end: LineEnd | undefined } {
    const hits: Hit[] = [];
    if (!this.#literals.isEmpty) {
      for (const read of plainReadings(line)) addPatternHits(this.#literals, read(), hits);
    }
    let end: LineEnd | undefined;
    for (const isStripped of sequenceStarts.test(line) ? [false, true] : [false]) {
      for (const decoded of mayHaveEscapes(line) ? [false, true] : [false]) {
        const text = readCanonical(line, { withoutSequences: isStripped, decoded });
        addPatternHits(this.#patterns, text, hits);
        this.#addShortHits(text, hits);
        end = this.#fragmentHits(text, before, hits) ?? end;
      }
    }
    return { hits, end };
  }

  #addShortHits(text: CanonicalText, hits: Hit[]): void {
    if (this.#shortFragments.isEmpty) return;
    this.#shortFragments.start();
    for (let index = 0; index < text.length; index++) {
      if (!this.#shortFragments.isFoundBy(text.bytes[index] ?? 0)) continue;
      addHit(hits, hitOf(text, index + 1 - SHORT_WINDOW, index + 1));
    }
  }

  /** Searches fragments of known texts. If the line ends inside one, returns that position. */
  #fragmentHits(text: CanonicalText, before: LineEnd | undefined, hits: Hit[]): LineEnd | undefined {
    if (this.#fragments.isEmpty) return undefined;
    let end: LineEnd | undefined;
    let position = 0;
    if (before) {
      const rest = this.#goOn(text, before.position, 0, text.length, hits);
      position = rest.index;
      if (rest.position !== before.position) end = endAt(rest.position);
    }
    this.#hash.reset();
    let since = position;
    for (let index = position; index < text.length; index++) {
      const hash = this.#hash.next(text.bytes[index] ?? 0);
      const start = index + 1 - WINDOW;
      if (start < since) continue;
      const found = this.#fragments.find(hash, text.bytes, start);
      if (found === -1) continue;
      const first = start - this.#fragments.sharedBefore(found, text.bytes, start, Math.max(position, start - WINDOW));
      const shared = this.#fragments.sharedFrom(found, text.bytes, start, text.length);
      addHit(hits, hitOf(text, first, start + shared));
      const rest = this.#goOn(text, found + shared, start + shared, start + shared + maxGap, hits);
      end = endAt(rest.position);
      position = rest.index;
      since = position;
      index = position - 1;
      this.#hash.reset();
    }
    return end;
  }

  /**
   * Follows a known text from `position`, which continues between `from` and `to`, also after gaps. Returns the
   * positions reached in the text and in the line.
   */
  #goOn(
    { bytes, length, starts, ends }: CanonicalText,
    position: number,
    from: number,
    to: number,
    hits: Hit[],
  ): { index: number; position: number } {
    let reached = { index: from, position };
    let last = to;
    for (let index = from; index < Math.min(last, length); index++) {
      const left = this.#fragments.left(reached.position, maxRest);
      if (left < minRest) break;
      if (this.#fragments.sharedFrom(reached.position, bytes, index, Math.min(length, index + left)) < left) continue;
      const shared = this.#fragments.sharedFrom(reached.position, bytes, index, length);
      addHit(hits, [starts[index] ?? 0, ends[index + shared - 1] ?? 0]);
      reached = { index: index + shared, position: reached.position + shared };
      last = reached.index + maxGap;
      index = reached.index - 1;
    }
    return reached;
  }
}

/** Returns functions that read a line as it is and as it is seen. */
function plainReadings(line: string): (() => CanonicalText)[] {
  const exact = () => readExactly(line);
  if (!mayHaveUnseen.test(line)) return [exact];
  return [exact, ...[false, true].map((withoutSequences) => () => readSeen(line, { withoutSequences }))];
}

function addPatternHits(patterns: PatternSet, text: CanonicalText, hits: Hit[]): void {
  let state = 0;
  for (let index = 0; index < text.length; index++) {
    state = patterns.next(state, text.bytes[index] ?? 0);
    const length = patterns.endingIn(state);
    if (length > 0) addHit(hits, hitOf(text, index + 1 - length, index + 1));
  }
}

function endAt(position: number): LineEnd {
  return { position, lines: linesInBetween };
}

/** Returns whether a line may contain escapes, which invisible characters can interrupt. */
function mayHaveEscapes(line: string): boolean {
  return escapes.test(line) || (/[%&\\]/.test(line) && mayHaveUnseen.test(line));
}

function hitOf({ starts, ends }: CanonicalText, first: number, end: number): Hit {
  return [starts[first] ?? 0, ends[end - 1] ?? 0];
}

/** Adds a match, as one with the previous if they overlap: in repeated characters each position can have one. */
function addHit(hits: Hit[], [start, end]: Hit): void {
  const last = hits.at(-1);
  if (last && start < last[1] && last[0] < end) {
    last[0] = Math.min(last[0], start);
    last[1] = Math.max(last[1], end);
  } else {
    hits.push([start, end]);
  }
}

/** Merges overlapping matches, so that no part of a secret remains visible next to another one. */
function hide(line: string, hits: Hit[]): string {
  hits.sort(([a], [b]) => a - b);
  let shown = '';
  let position = 0;
  for (const [start, end] of hits) {
    if (start >= position) shown += line.slice(position, start) + placeholder;
    position = Math.max(position, end);
  }
  return shown + line.slice(position);
}
