/** Shorter pieces of a message can occur anywhere by chance. */
const minPieceLength = 8;

/**
 * Returns the page's messages with a piece, between varying parts (`…`), that no source file contains. A message is
 * code of several words at the start of a list item, before a colon.
 * @param source the program's text, in which a message can consist of several strings
 */
export function missingMessages(page: string, source: string): string[] {
  // Joins adjacent strings without their quotes, so that long messages can be found.
  const known = plain(source.replace(/['"`]\s*\+\s*['"`]/g, '').replace(/\$\{[^}]*\}/g, '…'));
  return quotedMessages(page).filter((message) =>
    message.split('…').some((piece) => piece.trim().length >= minPieceLength && !known.includes(plain(piece.trim()))),
  );
}

function quotedMessages(page: string): string[] {
  return [...page.matchAll(/^- `([^`]* [^`]*)`:/gm)].map(([, message = '']) => message);
}

function plain(text: string): string {
  return text.replace(/\\(['"`])/g, '$1').replace(/\s+/g, ' ');
}
