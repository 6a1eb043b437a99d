import { sequenceRanges, stripControls } from '../../build-logs/controls.ts';

/** The style of a part of a line. The names are CSS classes. */
export interface StyledPart {
  text: string;
  style: string;
}

/** A line as a terminal shows it: its text, and its parts if it has colours. */
export interface TerminalText {
  text: string;
  parts?: StyledPart[];
}

const isPlain = /^[\u0020-\u007e]*$/;
// oxlint-disable-next-line no-control-regex
const colours = /^(?:\u001b\[|\u009b)([\d;]*)m$/;

/**
 * Reads the colours of a line. It removes exactly the characters that masks of secrets ignore: removing more could join
 * two fragments of an unmasked secret.
 */
export function readTerminalText(line: string): TerminalText {
  if (isPlain.test(line)) return { text: line };
  const ranges = sequenceRanges(line);
  if (ranges.length === 0) return { text: stripControls(line) };
  const parts: StyledPart[] = [];
  let state: TextState = {};
  let end = 0;
  const add = (to: number) => {
    const text = stripControls(line.slice(end, to));
    const style = styleOf(state);
    const last = parts.at(-1);
    if (text === '') return;
    if (last?.style === style) last.text += text;
    else parts.push({ text, style });
  };
  for (let index = 0; index < ranges.length; index += 2) {
    const [from = 0, to = 0] = ranges.slice(index, index + 2);
    add(from);
    end = to;
    const codes = colours.exec(line.slice(from, to))?.[1];
    if (codes !== undefined) state = after(state, codes.split(';').map(Number));
  }
  add(line.length);
  const text = parts.map((part) => part.text).join('');
  return parts.some(({ style }) => style !== '') ? { text, parts } : { text };
}

/** How text is shown. */
export interface TextState {
  isBold?: boolean;
  isFaint?: boolean;
  isItalic?: boolean;
  isUnderlined?: boolean;
  isInverse?: boolean;
  /** 0 to 15, as terminals number them. */
  colour?: number | undefined;
  background?: number | undefined;
}

/** Returns the state after the codes of a sequence. Codes for hidden or blinking text and unknown codes have no effect. */
function after(before: TextState, codes: readonly number[]): TextState {
  let state = before;
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, length } = extendedColour(codes.slice(index + 1));
      state = { ...state, [code === 38 ? 'colour' : 'background']: colour };
      index += length;
    } else state = afterCode(state, code);
  }
  return state;
}

const switches: Readonly<Record<number, TextState>> = {
  1: { isBold: true },
  2: { isFaint: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  7: { isInverse: true },
  22: { isBold: false, isFaint: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isInverse: false },
  39: { colour: undefined },
  49: { background: undefined },
};

function afterCode(state: TextState, code: number): TextState {
  if (code === 0) return {};
  if (code >= 30 && code <= 37) return { ...state, colour: code - 30 };
  if (code >= 90 && code <= 97) return { ...state, colour: code - 82 };
  if (code >= 40 && code <= 47) return { ...state, background: code - 40 };
  if (code >= 100 && code <= 107) return { ...state, background: code - 92 };
  return { ...state, ...switches[code] };
}

/** Returns the nearest of the 16 colours, which suit each theme, and the number of codes that name it. */
function extendedColour([kind, ...values]: readonly number[]): { colour: number | undefined; length: number } {
  if (kind === 5) return { colour: ofPalette(values[0] ?? 0), length: 2 };
  if (kind === 2) return { colour: ofRgb(values[0] ?? 0, values[1] ?? 0, values[2] ?? 0), length: 4 };
  return { colour: undefined, length: 0 };
}

/** Returns the nearest of the 16 colours to one of the palette of 256. */
export function ofPalette(index: number): number | undefined {
  if (index < 16) return index;
  if (index > 255) return undefined;
  if (index >= 232) return index < 250 ? 8 : 7;
  const cube = index - 16;
  const level = (value: number) => (value % 6) * 51;
  return ofRgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube));
}

const half = 128;
const bright = 208;

/** Returns the nearest of the 16 colours. */
export function ofRgb(red: number, green: number, blue: number): number {
  const max = Math.max(red, green, blue);
  if (max < half / 2) return 8;
  // A channel counts if it is at least half of the strongest one.
  const bit = (value: number, worth: number) => (value >= max / 2 ? worth : 0);
  return bit(red, 1) + bit(green, 2) + bit(blue, 4) + (max >= bright ? 8 : 0);
}

/** Names CSS classes. A background replaces the text's colour: both together could be unreadable. */
export function styleOf({ isBold, isFaint, isItalic, isUnderlined, isInverse, colour, background }: TextState): string {
  const filled = background ?? (isInverse === true ? (colour ?? 7) : undefined);
  const names = [
    isBold === true && 'ansi-bold',
    isFaint === true && 'ansi-faint',
    isItalic === true && 'ansi-italic',
    isUnderlined === true && 'ansi-underlined',
    filled === undefined ? colour !== undefined && `ansi-${colour}` : `ansi-fill ansi-${filled}`,
  ];
  return names.filter((name) => name !== false).join(' ');
}

/** A piece of a line with one style, either inside or outside a match of the search. */
export interface ShownPiece extends StyledPart {
  isMatch: boolean;
}

/** Splits a line at the borders of its colours and of the matches of the search. */
export function piecesOf({ text, parts }: TerminalText, matches: readonly (readonly [number, number])[]): ShownPiece[] {
  const pieces: ShownPiece[] = [];
  let at = 0;
  let next = 0;
  for (const { text: whole, style } of parts ?? [{ text, style: '' }]) {
    const end = at + whole.length;
    while (at < end) {
      const [from, to] = matches[next] ?? [Infinity, Infinity];
      if (to <= at) {
        next += 1;
        continue;
      }
      const isMatch = from <= at;
      const stop = Math.min(end, isMatch ? to : from);
      pieces.push({ text: text.slice(at, stop), style, isMatch });
      at = stop;
    }
  }
  return pieces;
}
