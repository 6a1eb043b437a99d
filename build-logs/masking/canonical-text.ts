import { isUnseen, sequenceRanges } from '../controls.ts';

/**
 * The canonical form in which masks compare texts, with the position of each byte in the original. Encoders add quotes,
 * backslashes and escapes, which are removed or decoded here, in secrets as in lines. One form thus covers the
 * encodings of shells, JSON, URLs and HTML, even when nested.
 */
export interface CanonicalText {
  /** UTF-8 bytes, valid until the next text is read. */
  bytes: Uint8Array;
  length: number;
  /** For each byte, the start and end of its UTF-16 units in the original text. */
  starts: Int32Array;
  ends: Int32Array;
}

export interface Reading {
  /** Whether to remove terminal sequences completely, instead of only their invisible characters. */
  withoutSequences: boolean;
  /** Whether to decode escapes. */
  decoded: boolean;
}

const backslash = 0x5c;
const percent = 0x25;
const ampersand = 0x26;
/** Marks a byte from an escape such as `%C3`, which is only a part of a character. */
const byteMark = 0x20_0000;

const entities: readonly [string, number][] = [
  ['lt;', 0x3c],
  ['gt;', 0x3e],
  ['quot;', 0x22],
  ['apos;', 0x27],
];

let codePoints = new Int32Array(0);
let starts = new Int32Array(0);
let ends = new Int32Array(0);
let bytes = new Uint8Array(0);
let byteStarts = new Int32Array(0);
let byteEnds = new Int32Array(0);

/** Returns the canonical form of a text. Results share memory and are valid until the next call. */
export function readCanonical(text: string, { withoutSequences, decoded }: Reading): CanonicalText {
  reserve(text.length);
  let count = load(text, withoutSequences ? sequenceRanges(text) : []);
  if (decoded) {
    count = decodeFrom(percent, count, decodePercents);
    count = decodeFrom(ampersand, count, decodeEntities);
    count = decodeFrom(backslash, count, decodeBackslashes);
  }
  return { bytes, length: fold(count), starts: byteStarts, ends: byteEnds };
}

/** Returns the UTF-8 of a text as it is. Shares memory as readCanonical() does. */
export function readExactly(text: string): CanonicalText {
  reserve(text.length);
  return { bytes, length: encode(load(text, [], true)), starts: byteStarts, ends: byteEnds };
}

/**
 * Returns the UTF-8 of a text without its invisible characters, and without terminal sequences if requested. Shares
 * memory as readCanonical() does.
 */
export function readSeen(text: string, { withoutSequences }: Pick<Reading, 'withoutSequences'>): CanonicalText {
  reserve(text.length);
  const count = load(text, withoutSequences ? sequenceRanges(text) : []);
  return { bytes, length: encode(count), starts: byteStarts, ends: byteEnds };
}

/** Returns a copy of the bytes. */
export function canonicalBytes(text: string, decoded: boolean): Uint8Array {
  const { bytes: shared, length } = readCanonical(text, { withoutSequences: false, decoded });
  return shared.slice(0, length);
}

/** Returns a copy of the bytes of readExactly(). */
export function exactBytes(text: string): Uint8Array {
  const { bytes: shared, length } = readExactly(text);
  return shared.slice(0, length);
}

/**
 * Returns how an ASCII byte is compared, or 0 if it is removed. Characters that differ between base64 and base64url, or
 * between URL paths and form values, become equal.
 */
export function foldedByte(byte: number): number {
  switch (byte) {
    case 0x22:
    case 0x27:
    case 0x60:
    case backslash:
      return 0;
    // When escaped, these are letters, and backslashes are removed.
    case 0x0a:
      return 0x6e;
    case 0x09:
      return 0x74;
    case 0x20:
    case 0x2d:
      return 0x2b;
    case 0x5f:
      return 0x2f;
    default:
      return byte < 0x20 || byte === 0x7f ? 0 : byte;
  }
}

function reserve(length: number): void {
  if (codePoints.length > length) return;
  const size = Math.max(1024, 2 ** Math.ceil(Math.log2(length + 1)));
  codePoints = new Int32Array(size);
  starts = new Int32Array(size);
  ends = new Int32Array(size);
  bytes = new Uint8Array(3 * size);
  byteStarts = new Int32Array(3 * size);
  byteEnds = new Int32Array(3 * size);
}

function load(text: string, sequences: readonly number[], withUnseen = false): number {
  let count = 0;
  let next = 0;
  for (let index = 0; index < text.length;) {
    if (index === sequences[next]) {
      index = sequences[next + 1] ?? index + 1;
      next += 2;
      continue;
    }
    const unit = text.charCodeAt(index);
    const codePoint = unit < 0xd800 ? unit : (text.codePointAt(index) ?? 0);
    const end = index + (codePoint > 0xffff ? 2 : 1);
    if (withUnseen || !isUnseen(codePoint)) {
      codePoints[count] = codePoint;
      starts[count] = index;
      ends[count] = end;
      count++;
    }
    index = end;
  }
  // Ends an escape at the end of the text.
  codePoints[count] = -1;
  return count;
}

function at(index: number): number {
  return codePoints[index] ?? -1;
}

/** Replaces the code points from `from` to before `to` by one; `into` is at most `from`. */
function put(into: number, codePoint: number, from: number, to: number): void {
  codePoints[into] = codePoint;
  starts[into] = starts[from] ?? 0;
  ends[into] = ends[to - 1] ?? 0;
}

/** Returns the value of a hexadecimal digit, or -1. */
function hexDigit(codePoint: number): number {
  if (codePoint >= 0x30 && codePoint <= 0x39) return codePoint - 0x30;
  const small = codePoint | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
}

/** Returns the value of `digits` hexadecimal digits, or -1. */
function hexNumber(index: number, digits: number): number {
  let value = 0;
  for (let digit = 0; digit < digits; digit++) {
    const one = hexDigit(at(index + digit));
    if (one === -1) return -1;
    value = value * 16 + one;
  }
  return value;
}

function escapedByte(value: number): number {
  return value < 0x80 ? value : byteMark | value;
}

/** Decodes from the first character that may start an escape; everything before it is unchanged. */
function decodeFrom(character: number, count: number, decode: (first: number, count: number) => number): number {
  const first = codePoints.subarray(0, count).indexOf(character);
  return first === -1 ? count : decode(first, count);
}

/** Decodes `%2F`, and `%252F` as in nested URLs. */
function decodePercents(first: number, count: number): number {
  let into = first;
  for (let index = first; index < count;) {
    let end = index + 1;
    let value = -1;
    if (at(index) === percent) {
      for (let byte = hexNumber(end, 2); byte !== -1; byte = hexNumber(end, 2)) {
        value = byte;
        end += 2;
        if (byte !== percent) break;
      }
    }
    put(into++, value === -1 ? at(index) : escapedByte(value), index, end);
    index = end;
  }
  codePoints[into] = -1;
  return into;
}

function startsWith(index: number, word: string): boolean {
  for (let offset = 0; offset < word.length; offset++) {
    if (at(index + offset) !== word.charCodeAt(offset)) return false;
  }
  return true;
}

/** Decodes `&lt;`, `&#60;`, `&#x3c;`, and `&amp;lt;` as in nested HTML. */
function decodeEntities(first: number, count: number): number {
  let into = first;
  for (let index = first; index < count;) {
    const { codePoint, end } = at(index) === ampersand ? entity(index) : { codePoint: at(index), end: index + 1 };
    put(into++, codePoint, index, end);
    index = end;
  }
  codePoints[into] = -1;
  return into;
}

function entity(index: number): { codePoint: number; end: number } {
  let end = index + 1;
  while (startsWith(end, 'amp;')) end += 4;
  for (const [name, codePoint] of entities) {
    if (startsWith(end, name)) return { codePoint, end: end + name.length };
  }
  if (at(end) !== 0x23) return { codePoint: ampersand, end };
  const isHex = (at(end + 1) | 0x20) === 0x78;
  const base = isHex ? 16 : 10;
  const first = end + (isHex ? 2 : 1);
  let value = 0;
  let digit = first;
  for (; digit < first + 7; digit++) {
    const one = hexDigit(at(digit));
    if (one === -1 || one >= base) break;
    value = value * base + one;
  }
  const isOne = digit > first && at(digit) === 0x3b && value <= 0x10_ffff;
  return isOne ? { codePoint: value, end: digit + 1 } : { codePoint: ampersand, end };
}

/**
 * Decodes `\u0026`, `\u{26}`, `\U00000026`, `\x26`, `\046`, after any number of backslashes, which nested JSON doubles. Others are left to
 * fold().
 */
function decodeBackslashes(first: number, count: number): number {
  let into = first;
  for (let index = first; index < count;) {
    let escape = index;
    while (at(escape) === backslash) escape++;
    if (escape === index) {
      put(into++, at(index), index, index + 1);
      index++;
      continue;
    }
    const { codePoint, end } = backslashEscape(escape);
    if (codePoint !== -1) put(into++, codePoint, index, end);
    index = end;
  }
  codePoints[into] = -1;
  return into;
}

/** Returns the character of an escape after its backslashes; -1 if only the backslashes are removed. */
function backslashEscape(index: number): { codePoint: number; end: number } {
  const letter = at(index);
  if (letter === 0x75) {
    const value = hexNumber(index + 1, 4);
    if (value !== -1) return utf16Escape(value, index + 5);
    if (at(index + 1) === 0x7b) return bracedEscape(index + 2);
  }
  if (letter === 0x55) {
    const value = hexNumber(index + 1, 8);
    if (value !== -1 && value <= 0x10_ffff) return { codePoint: value, end: index + 9 };
  }
  if (letter === 0x78) {
    const value = hexNumber(index + 1, 2);
    if (value !== -1) return { codePoint: escapedByte(value), end: index + 3 };
  }
  const octal = [at(index), at(index + 1), at(index + 2)].map((digit) => digit - 0x30);
  const [first = 0, second = 0, third = 0] = octal;
  if (octal.every((digit) => digit >= 0 && digit < 8) && first < 4) {
    return { codePoint: escapedByte(first * 64 + second * 8 + third), end: index + 3 };
  }
  return { codePoint: -1, end: index };
}

/** Decodes the rest of `\u{26}`, as Rust and JavaScript write it. */
function bracedEscape(first: number): { codePoint: number; end: number } {
  let value = 0;
  let digit = first;
  for (; digit < first + 6 && hexDigit(at(digit)) !== -1; digit++) value = value * 16 + hexDigit(at(digit));
  const isOne = digit > first && at(digit) === 0x7d && value <= 0x10_ffff;
  return isOne ? { codePoint: value, end: digit + 1 } : { codePoint: -1, end: first - 2 };
}

/** Combines the two escapes of a character beyond the first 65,536. */
function utf16Escape(high: number, end: number): { codePoint: number; end: number } {
  if (high < 0xd800 || high > 0xdbff) return { codePoint: high, end };
  let next = end;
  while (at(next) === backslash) next++;
  const low = next > end && at(next) === 0x75 ? hexNumber(next + 1, 4) : -1;
  if (low < 0xdc00 || low > 0xdfff) return { codePoint: high, end };
  return { codePoint: 0x1_0000 + (high - 0xd800) * 0x400 + (low - 0xdc00), end: next + 5 };
}

/** Results of foldedByte(). */
const folded = Uint8Array.from({ length: 0x80 }, (_, byte) => foldedByte(byte));

function fold(count: number): number {
  let length = 0;
  for (let index = 0; index < count; index++) {
    const codePoint = codePoints[index] ?? 0;
    if (codePoint >= 0x80) {
      length = emitUtf8(codePoint, index, length);
      continue;
    }
    const byte = folded[codePoint] ?? 0;
    if (byte !== 0) length = emit(byte, index, length);
  }
  return length;
}

function encode(count: number): number {
  let length = 0;
  for (let index = 0; index < count; index++) {
    const codePoint = codePoints[index] ?? 0;
    length = codePoint >= 0x80 ? emitUtf8(codePoint, index, length) : emit(codePoint, index, length);
  }
  return length;
}

function emitUtf8(codePoint: number, index: number, before: number): number {
  let length = before;
  for (const byte of codePoint >= byteMark ? [codePoint & 0xff] : utf8Bytes(codePoint)) {
    length = emit(byte, index, length);
  }
  return length;
}

/** Adds a byte of the code point at `index`, and returns how many there are. */
function emit(byte: number, index: number, length: number): number {
  bytes[length] = byte;
  byteStarts[length] = starts[index] ?? 0;
  byteEnds[length] = ends[index] ?? 0;
  return length + 1;
}

/** Returns the UTF-8 bytes of a character beyond ASCII. */
export function utf8Bytes(codePoint: number): number[] {
  const last = 0x80 | (codePoint & 0x3f);
  if (codePoint < 0x800) return [0xc0 | (codePoint >> 6), last];
  const middle = 0x80 | ((codePoint >> 6) & 0x3f);
  if (codePoint < 0x1_0000) return [0xe0 | (codePoint >> 12), middle, last];
  return [0xf0 | (codePoint >> 18), 0x80 | ((codePoint >> 12) & 0x3f), middle, last];
}
