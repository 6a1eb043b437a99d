const newline = 0x0a;

/**
 * Splits a stream of bytes into lines without their newlines. Each line is decoded as a whole, because chunks can split
 * a character. A last line without a newline is included, unless the stream fails or `wholeLinesOnly`. A line longer
 * than `maxBytes` is split, so that a log without newlines does not fill the memory.
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

/** Returns the last position at or before `at` that is not inside a UTF-8 character. */
function characterBoundary(bytes: Buffer, at: number): number {
  let cut = at;
  while (cut > at - 4 && cut > 1 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return cut;
}
