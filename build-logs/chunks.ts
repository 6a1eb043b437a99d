import { encodeMessage, type UnnumberedMessage } from './message.ts';

/**
 * What one entry of a stream, and one frame to a reader, holds at most, unless a single message is longer: below the
 * 64 KiB that some clients take a message to have.
 */
export const MAX_CHUNK_BYTES = 48 * 1024;

export interface Chunk {
  /** Seq of its last message: with `-0` behind it, the entry's id. */
  last: number;
  /** Lines of JSON with a newline between them. */
  text: string;
}

/** Messages, numbered from `first`, as the chunks that are stored. */
export function encodeChunks(first: number, messages: readonly UnnumberedMessage[]): Chunk[] {
  const chunks: Chunk[] = [];
  let lines: string[] = [];
  let bytes = 0;
  const close = (last: number): void => {
    if (lines.length > 0) chunks.push({ last, text: lines.join('\n') });
    lines = [];
    bytes = 0;
  };
  messages.forEach((message, index) => {
    const line = encodeMessage(first + index, message);
    const size = Buffer.byteLength(line) + 1;
    if (bytes + size > MAX_CHUNK_BYTES) close(first + index - 1);
    lines.push(line);
    bytes += size;
  });
  close(first + messages.length - 1);
  return chunks;
}
