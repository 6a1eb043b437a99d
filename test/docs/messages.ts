/** Shorter pieces of a message may be anywhere. */
const MIN_PIECE_LENGTH = 8;

/**
 * Returns the messages of a page of which a piece, between what differs (`…`), is in no source file. A message is code of more
 * than one word at the start of a list item, before a colon.
 * @param source the program's text; a message may be put together of several strings there.
 */
export function missingMessages(page: string, source: string): string[] {
  // Strings are joined and stand without their quotes, so that the pieces of a longer one meet.
  const known = plain(source.replace(/['"`]\s*\+\s*['"`]/g, '').replace(/\$\{[^}]*\}/g, '…'));
  return quotedMessages(page).filter((message) =>
    message.split('…').some((piece) => piece.trim().length >= MIN_PIECE_LENGTH && !known.includes(plain(piece.trim()))),
  );
}

function quotedMessages(page: string): string[] {
  return [...page.matchAll(/^- `([^`]* [^`]*)`:/gm)].map(([, message = '']) => message);
}

function plain(text: string): string {
  return text.replace(/\\(['"`])/g, '$1').replace(/\s+/g, ' ');
}
