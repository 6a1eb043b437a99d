/** Shorter pieces of a message may be anywhere. */
const shortestPiece = 8;

/**
 * Messages quoted in «» of which a piece, between what differs (`…`), is in no source file.
 * @param source the program's text; a message may be put together of several strings there.
 */
export function missingMessages(page: string, source: string): string[] {
  // Strings are joined and told without their quotes, so that the pieces of a longer one meet.
  const said = plain(source.replace(/['"`]\s*\+\s*['"`]/g, '').replace(/\$\{[^}]*\}/g, '…'));
  const quoted = [...page.matchAll(/«([^»]+)»/g)].map(([, message = '']) => message);
  return quoted.filter((message) =>
    message.split('…').some((piece) => piece.trim().length >= shortestPiece && !said.includes(plain(piece.trim()))),
  );
}

function plain(text: string): string {
  return text.replace(/\\(['"`])/g, '$1').replace(/\s+/g, ' ');
}
