/**
 * Matches terminal commands: CSI sequences (colours, cursor), strings such as OSC with their terminator, and shorter
 * escapes. No alternative can restart inside a match of another one, so the time is linear.
 */
const sequences =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

/** Characters that are not visible, such as control, format and unassigned ones, except newline and tab. */
const unseen = /(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}]/gu;
const unseenOne = new RegExp(unseen.source, 'u');

/** 0 means not yet known. */
const shown = 1;
const notShown = 2;
const known = new Uint8Array(0x10000);

/** Returns whether a character is invisible, so that a secret containing it looks the same as without it. */
export function isUnseen(codePoint: number): boolean {
  if (codePoint < 0x7f) return codePoint < 0x20 && codePoint !== 0x0a && codePoint !== 0x09;
  if (codePoint > 0xffff) return unseenOne.test(String.fromCodePoint(codePoint));
  if (known[codePoint] === 0) {
    known[codePoint] = unseenOne.test(String.fromCodePoint(codePoint)) ? notShown : shown;
  }
  return known[codePoint] === notShown;
}

/** Returns the positions of terminal sequences in a text, as pairs of start and end. */
export function sequenceRanges(text: string): number[] {
  return Array.from(text.matchAll(sequences), ({ index, 0: { length } }) => [index, index + length]).flat();
}

export function withoutSequences(text: string): string {
  return text.replace(sequences, '');
}

/**
 * Returns a text as a terminal shows it: without terminal sequences, and without invisible characters except newlines
 * and tabs. Masks search for secrets in this form too. Output code that removes other characters could join the parts
 * of a secret that no mask has found.
 */
export function stripControls(text: string): string {
  return withoutSequences(text).replace(unseen, '');
}
