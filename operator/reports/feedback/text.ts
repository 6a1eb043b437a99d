/** What users' programs and files have said goes to Git hosts as text alone: nothing in it is markup, a mention or a line of ours. */

import { stripControls } from '../../../build-logs/controls.ts';
import { cut } from '../../shared/one-line.ts';

const maxBlock = 2000;

/** A code block that holds the text as it is: its isolation is longer than any in the text. */
export function codeBlock(text: string, maxLength = maxBlock): string {
  const plain = cut(stripControls(text).trim(), Math.min(maxLength, maxBlock));
  const maxRun = Math.max(0, ...(plain.match(/`+/g) ?? []).map(({ length }) => length));
  const isolation = '`'.repeat(Math.max(3, maxRun + 1));
  return `${isolation}text\n${plain}\n${isolation}`;
}
