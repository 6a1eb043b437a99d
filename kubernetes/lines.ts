const newline = 0x0a;

/**
 * Splits a stream of bytes into lines, without their newline. Bytes are decoded a whole line at a time, so a character
 * that came in two chunks stays whole; a last line without a newline comes too, unless the stream fails or
 * `wholeLinesOnly`. A line longer than `maxBytes` comes in pieces, so that a log without a newline does not fill the
 * memory.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = Infinity,
  wholeLinesOnly = false,
): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      held.push(chunk.subarray(start, end));
      yield Buffer.concat(held).toString('utf8');
      held = [];
      size = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    held.push(chunk.subarray(start));
    size += chunk.length - start;
    while (size > maxBytes) {
      const all = Buffer.concat(held);
      const cut = characterBoundary(all, maxBytes);
      yield all.subarray(0, cut).toString('utf8');
      held = [all.subarray(cut)];
      size = all.length - cut;
    }
  }
  if (size > 0 && !wholeLinesOnly) yield Buffer.concat(held).toString('utf8');
}

/** The last position at or before `at` that does not fall inside a UTF-8 character. */
function characterBoundary(bytes: Buffer, at: number): number {
  let cut = at;
  while (cut > at - 4 && cut > 1 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return cut;
}
