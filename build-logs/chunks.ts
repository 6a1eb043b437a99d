import { encodeMessage, type UnnumberedMessage } from './message.ts';

/**
 * Maximum size in bytes of a stream's entry and of a frame to a reader, except for a longer single message. Below the
 * message limit of some clients, 64 KiB.
 */
export const MAX_CHUNK_BYTES = 48 * 1024;

export interface Chunk {
  /** Seq of its last message; the entry's ID is this number followed by `-0`. */
  last: number;
  /** Lines of JSON, separated by newlines. */
  text: string;
}

/** Returns the chunks that store these messages, numbered from `first`. */
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
