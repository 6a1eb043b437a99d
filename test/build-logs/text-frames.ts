/** A frame's payload, from `begin` to before `end`. */
export interface Frame {
  opcode: number;
  begin: number;
  end: number;
}

/** The whole frame that begins at `at` of what is held, if all of it is there (RFC 6455, 5.2); a server masks none. */
export function frameAt(held: Buffer, at: number, length: number): Frame | undefined {
  if (length < at + 2) return undefined;
  const short = (held[at + 1] ?? 0) & 0x7f;
  const begin = at + headerBytes(short);
  if (length < begin) return undefined;
  const end = begin + payloadBytes(held, at, short);
  return length < end ? undefined : { opcode: (held[at] ?? 0) & 0x0f, begin, end };
}

function headerBytes(short: number): number {
  if (short === 127) return 10;
  return short === 126 ? 4 : 2;
}

function payloadBytes(held: Buffer, at: number, short: number): number {
  if (short === 127) return Number(held.readBigUInt64BE(at + 2));
  return short === 126 ? held.readUInt16BE(at + 2) : short;
}
