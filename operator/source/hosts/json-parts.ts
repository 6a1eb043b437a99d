const quote = 0x22;
const backslash = 0x5c;
const partStarts = new Set(['[', '{', ','].map((character) => character.charCodeAt(0)));

/**
 * Whether a JSON text holds more than `most` values, about: what is within strings does not count. Each is an object in
 * memory, many times as large as in the text, so this is asked before it is parsed.
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
