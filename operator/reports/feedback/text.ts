/**
 * Escapes the output of users' programs and files for Git hosts, so that it contains no markup, mentions or lines that
 * look like Coppice's own.
 */

import { stripControls } from '../../../build-logs/controls.ts';
import { cut, oneLine } from '../../shared/one-line.ts';

const maxBlock = 2000;

/** Returns a code block with the unchanged text: its delimiter is longer than any in the text. */
export function codeBlock(text: string, maxLength = maxBlock): string {
  const plain = cut(stripControls(text).trim(), Math.min(maxLength, maxBlock));
  const isolation = '`'.repeat(Math.max(3, maxRun(plain) + 1));
  return `${isolation}text\n${plain}\n${isolation}`;
}

/** Returns a text of one line within a paragraph. */
export function codeSpan(text: string): string {
  const plain = oneLine(stripControls(text));
  const isolation = '`'.repeat(maxRun(plain) + 1);
  return `${isolation} ${plain} ${isolation}`;
}

/** Returns the length of the longest run of backquotes. */
function maxRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}
