import { stripControls } from '../../build-logs/controls.ts';

/** Maximum length of a commit status's description at GitHub; other hosts accept more. */
const maxDescription = 140;

/** Returns the output of users' programs and files as one bounded line without control characters. */
export function oneLine(text: string, maxLength = maxDescription): string {
  return cut(stripControls(text.replace(/\s+/g, ' ')).trim(), maxLength);
}

/** Truncates a text to this many characters, the last of which is then an ellipsis. */
export function cut(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** Truncates like cut(), but between words, so that a secret that is masked later is either complete or absent. */
export function cutAtSpace(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.slice(0, maxLength).search(/\s\S*$/);
  return `${text.slice(0, Math.max(end, 0)).trimEnd()}…`;
}
