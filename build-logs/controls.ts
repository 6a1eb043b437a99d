/**
 * What a terminal takes as a command: CSI sequences (colours, cursor), strings such as OSC with their terminator, and
 * shorter escapes. No alternative starts anew inside of what another one reads, so the time is linear in the text.
 */
const SEQUENCES =
  // eslint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/g;

/** Control, format, unassigned and other characters that are shown as nothing; a newline and a tab are shown. */
const UNSEEN = /(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}]/gu;
const UNSEEN_ONE = new RegExp(UNSEEN.source, 'u');

/** 0: not known yet. */
const SHOWN = 1;
const NOT_SHOWN = 2;
const known = new Uint8Array(0x10000);

/** Whether nothing of a character is seen, so that a secret with it in between reads as one without. */
export function isUnseen(codePoint: number): boolean {
  if (codePoint < 0x7f) return codePoint < 0x20 && codePoint !== 0x0a && codePoint !== 0x09;
  if (codePoint > 0xffff) return UNSEEN_ONE.test(String.fromCodePoint(codePoint));
  if (known[codePoint] === 0) {
    known[codePoint] = UNSEEN_ONE.test(String.fromCodePoint(codePoint)) ? NOT_SHOWN : SHOWN;
  }
  return known[codePoint] === NOT_SHOWN;
}

/** Where terminal sequences are in a text: pairs of start and end. */
export function sequenceRanges(text: string): number[] {
  return Array.from(text.matchAll(SEQUENCES), ({ index, 0: { length } }) => [index, index + length]).flat();
}

export function withoutSequences(text: string): string {
  return text.replace(SEQUENCES, '');
}

/**
 * Returns a text of users' programs as it reads: without terminal sequences, and without characters of which nothing is
 * seen but newlines and tabs. Masks find secrets in this form of a text too; an output that removes characters in another
 * way could join a secret that no mask has seen.
 */
export function stripControls(text: string): string {
  return withoutSequences(text).replace(UNSEEN, '');
}
