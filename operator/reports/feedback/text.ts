/**
 * Escapes the output of users' programs and files for Git hosts, so that it contains no markup, mentions or lines that
 * look like Coppice's own.
 */

import { stripControls } from '../../../build-logs/controls.ts';
import { cut } from '../../shared/one-line.ts';

const maxBlock = 2000;

/** Returns a code block with the unchanged text: its delimiter is longer than any in the text. */
export function codeBlock(text: string, maxLength = maxBlock): string {
  const plain = cut(stripControls(text).trim(), Math.min(maxLength, maxBlock));
  const maxRun = Math.max(0, ...(plain.match(/`+/g) ?? []).map(({ length }) => length));
  const isolation = '`'.repeat(Math.max(3, maxRun + 1));
  return `${isolation}text\n${plain}\n${isolation}`;
}
