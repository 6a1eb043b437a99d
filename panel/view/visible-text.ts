/** Characters that are not visible or change the order of others: control, format, bidirectional and line separators. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;
/** Joins emoji and letters of some scripts; it does not change the order. */
const joiners = new Set(['\u200d', '\u200c']);

/**
 * Returns a name with its invisible characters replaced by their names. Otherwise a ref with a right-to-left override
 * would look like another ref.
 */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => {
    if (joiners.has(character)) return character;
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
