export const MAX_LINE_BYTES = 16 * 1024;

/** A line of at most `maxBytes` of UTF-8; of a longer one the beginning, and a mark that says so. */
export function cutLine(line: string, maxBytes = MAX_LINE_BYTES): string {
  // No UTF-16 unit takes more than three bytes, so most lines need not be measured.
  if (line.length * 3 <= maxBytes) return line;
  const bytes = Buffer.from(line);
  if (bytes.length <= maxBytes) return line;
  let end = maxBytes;
  while (isContinuation(bytes[end])) end -= 1;
  return `${bytes.toString('utf8', 0, end)}… [the line is cut: it has ${bytes.length} bytes]`;
}

/** Whether a byte is inside a UTF-8 character, not its first. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
