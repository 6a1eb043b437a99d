import { stripControls } from '../../build-logs/controls.ts';

/** As long as GitHub lets a description of a commit status be; the others take more. */
const maxDescription = 140;

/** What programs and files of users have said as one bounded line, without control characters. */
export function oneLine(text: string, maxLength = maxDescription): string {
  return cut(stripControls(text.replace(/\s+/g, ' ')).trim(), maxLength);
}

/** So many characters at most, the last one then an ellipsis. */
export function cut(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** As cut(), between two words: what is masked later is there as a whole, or not at all. */
export function cutAtSpace(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const end = text.slice(0, maxLength).search(/\s\S*$/);
  return `${text.slice(0, Math.max(end, 0)).trimEnd()}…`;
}
