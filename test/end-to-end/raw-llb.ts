import { createHash } from 'node:crypto';

/** Returns a BuildKit definition (solver/pb/ops.proto) whose result is one source, as any frontend can request it. */
export function rawSource(identifier: string, attributes: Readonly<Record<string, string>> = {}): Buffer {
  const entries = Object.entries(attributes).map(([key, value]) => field(2, field(1, key), field(2, value)));
  const source = field(3, field(1, identifier), ...entries);
  const result = field(1, field(1, `sha256:${createHash('sha256').update(source).digest('hex')}`));
  return Buffer.concat([field(1, source), field(1, result)]);
}

/** Encodes a protobuf field of wire type 2: tag, length, bytes. */
function field(number: number, ...parts: (string | Buffer)[]): Buffer {
  const value = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint((number << 3) | 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}
