import { MAX_COMMIT_TEXT } from '../../../crds/environment-build.ts';

/** Control characters, and what changes the direction of the text around it. */
const unshown = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a text from a commit for statuses: one line without invisible controls, cut. */
export function shownText(text: string): string {
  const line = text
    .slice(0, 10 * MAX_COMMIT_TEXT)
    .toWellFormed()
    .replace(unshown, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  if (line.length <= MAX_COMMIT_TEXT) return line;
  // Half of a surrogate pair cannot be shown.
  return `${line
    .slice(0, MAX_COMMIT_TEXT - 1)
    .toWellFormed()
    .replace(/\ufffd$/, '')}…`;
}
