import { MAX_CHUNK_BYTES } from './chunks.ts';
import { type BuildLogMessage, decodeMessages } from './message.ts';

const newline = 0x0a;
/** Matches the start of encodeMessage's lines; no external text precedes `end` in an end message. */
const lineStart = /^\{"seq":(\d+),"time":"[^"]{1,40}",("end":)?/;
const maxPrefix = 100;

/**
 * Consecutive messages of a log as they are stored and sent: lines of JSON in UTF-8. They are not parsed between Redis
 * and a reader, and all readers at the same position share one page.
 */
export class LogPage {
  readonly bytes: Buffer;
  /** Seq of the first message. */
  readonly first: number;
  readonly last: number;
  /** Whether the last message is the end message. */
  readonly isEnd: boolean;
  #frames: readonly Buffer[] | undefined;

  /** Throws if the bytes are not valid messages. */
  constructor(bytes: Buffer) {
    const lastLine = bytes.subarray(bytes.lastIndexOf(newline) + 1);
    const last = beginningOf(lastLine);
    this.bytes = bytes;
    this.first = beginningOf(bytes).seq;
    this.last = last.seq;
    this.isEnd = last.isEnd;
  }

  /** Returns the messages after `seq`; undefined if there are none. */
  after(seq: number): LogPage | undefined {
    if (seq >= this.last) return undefined;
    if (seq < this.first) return this;
    for (let start = 0; ;) {
      start = this.bytes.indexOf(newline, start) + 1;
      const rest = this.bytes.subarray(start);
      if (beginningOf(rest).seq > seq) return new LogPage(rest);
    }
  }

  /**
   * Returns complete messages in frames of at most MAX_CHUNK_BYTES, except for a longer single message; without a
   * trailing newline.
   */
  frames(): readonly Buffer[] {
    this.#frames ??= split(this.bytes);
    return this.#frames;
  }

  messages(): BuildLogMessage[] {
    return decodeMessages(this.bytes.toString('utf8'));
  }
}

function beginningOf(line: Buffer): { seq: number; isEnd: boolean } {
  const beginning = line.toString('latin1', 0, maxPrefix);
  const match = lineStart.exec(beginning);
  if (!match) throw new Error('an entry of a log is not a valid message');
  return { seq: Number(match[1]), isEnd: match[2] !== undefined };
}

function split(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  let start = 0;
  while (bytes.length - start > MAX_CHUNK_BYTES) {
    let end = bytes.lastIndexOf(newline, start + MAX_CHUNK_BYTES);
    if (end < start) end = bytes.indexOf(newline, start);
    if (end < 0) break;
    frames.push(bytes.subarray(start, end));
    start = end + 1;
  }
  frames.push(bytes.subarray(start));
  return frames;
}
