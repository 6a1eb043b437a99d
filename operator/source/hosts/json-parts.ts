const quote = 0x22;
const backslash = 0x5c;
const partStarts = new Set(['[', '{', ','].map((character) => character.charCodeAt(0)));

/**
 * Returns whether a JSON text has more than about `max` values, ignoring those within strings. Each value becomes an
 * object that is much larger than its text, so this is checked before parsing.
 */
export function hasMoreParts(text: string, max: number): boolean {
  let parts = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === quote) isInString = !isInString;
    else if (isInString) at += character === backslash ? 1 : 0;
    else if (partStarts.has(character) && ++parts > max) return true;
  }
  return false;
}
