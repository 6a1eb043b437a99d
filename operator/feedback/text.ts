/** What users' programs and files have said goes to Git hosts as text alone: nothing in it is markup, a mention or a line of ours. */

import { stripControls } from '../../build-logs/controls.ts';
import { cut } from '../one-line.ts';

const longestBlock = 2000;

/** A code block that holds the text as it is: its fence is longer than any in the text. */
export function codeBlock(text: string, longest = longestBlock): string {
  const plain = cut(stripControls(text).trim(), Math.min(longest, longestBlock));
  const longestRun = Math.max(0, ...(plain.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(Math.max(3, longestRun + 1));
  return `${fence}text\n${plain}\n${fence}`;
}
