export const MAX_LINE_BYTES = 16 * 1024;

/** Truncates a line to `maxBytes` of UTF-8, and appends a note if it was longer. */
export function cutLine(line: string, maxBytes = MAX_LINE_BYTES): string {
  // A UTF-16 unit has at most three bytes in UTF-8, so most lines need not be encoded.
  if (line.length * 3 <= maxBytes) return line;
  const bytes = Buffer.from(line);
  if (bytes.length <= maxBytes) return line;
  let end = maxBytes;
  while (isContinuation(bytes[end])) end -= 1;
  return `${bytes.toString('utf8', 0, end)}… [the line is cut: it has ${bytes.length} bytes]`;
}

/** Returns whether a byte continues a UTF-8 character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
