/** The payload of a frame, from `start` to before `end`. */
export interface Frame {
  opcode: number;
  start: number;
  end: number;
}

/** Returns the frame that starts at `at`, if it is complete (RFC 6455, 5.2); frames of servers are not masked. */
export function frameAt(held: Buffer, at: number, length: number): Frame | undefined {
  if (length < at + 2) return undefined;
  const short = (held[at + 1] ?? 0) & 0x7f;
  const start = at + headerBytes(short);
  if (length < start) return undefined;
  const end = start + payloadBytes(held, at, short);
  return length < end ? undefined : { opcode: (held[at] ?? 0) & 0x0f, start, end };
}

function headerBytes(short: number): number {
  if (short === 127) return 10;
  return short === 126 ? 4 : 2;
}

function payloadBytes(held: Buffer, at: number, short: number): number {
  if (short === 127) return Number(held.readBigUInt64BE(at + 2));
  return short === 126 ? held.readUInt16BE(at + 2) : short;
}
