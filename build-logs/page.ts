import { MAX_CHUNK_BYTES } from './chunks.ts';
import { type BuildLogMessage, decodeMessages } from './message.ts';

const NEWLINE = 0x0a;
/** What encodeMessage starts a line with; an end message has no word from outside before its `end`. */
const BEGINNING = /^\{"seq":(\d+),"time":"[^"]{1,40}",("end":)?/;
const MAX_PREFIX = 100;

/**
 * Consecutive messages of a log as they are stored and sent, lines of JSON in UTF-8. They are not parsed on their way
 * from Redis to a reader, and one page serves all readers that are at the same place.
 */
export class LogPage {
  readonly bytes: Buffer;
  /** Seq of the first and of the last message. */
  readonly first: number;
  readonly last: number;
  /** Whether the last one is the end message. */
  readonly isEnd: boolean;
  #frames: readonly Buffer[] | undefined;

  /** Throws when the bytes are not messages of ours. */
  constructor(bytes: Buffer) {
    const lastLine = bytes.subarray(bytes.lastIndexOf(NEWLINE) + 1);
    const last = beginningOf(lastLine);
    this.bytes = bytes;
    this.first = beginningOf(bytes).seq;
    this.last = last.seq;
    this.isEnd = last.isEnd;
  }

  /** What follows `seq`, or undefined when nothing does. */
  after(seq: number): LogPage | undefined {
    if (seq >= this.last) return undefined;
    if (seq < this.first) return this;
    for (let start = 0; ;) {
      start = this.bytes.indexOf(NEWLINE, start) + 1;
      const rest = this.bytes.subarray(start);
      if (beginningOf(rest).seq > seq) return new LogPage(rest);
    }
  }

  /** Whole messages in frames of at most MAX_CHUNK_BYTES, unless one message is longer; without a newline at the end. */
  frames(): readonly Buffer[] {
    this.#frames ??= split(this.bytes);
    return this.#frames;
  }

  messages(): BuildLogMessage[] {
    return decodeMessages(this.bytes.toString('utf8'));
  }
}

function beginningOf(line: Buffer): { seq: number; isEnd: boolean } {
  const beginning = line.toString('latin1', 0, MAX_PREFIX);
  const match = BEGINNING.exec(beginning);
  if (!match) throw new Error('an entry of a log is not a message of ours');
  return { seq: Number(match[1]), isEnd: match[2] !== undefined };
}

function split(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  let start = 0;
  while (bytes.length - start > MAX_CHUNK_BYTES) {
    let end = bytes.lastIndexOf(NEWLINE, start + MAX_CHUNK_BYTES);
    if (end < start) end = bytes.indexOf(NEWLINE, start);
    if (end < 0) break;
    frames.push(bytes.subarray(start, end));
    start = end + 1;
  }
  frames.push(bytes.subarray(start));
  return frames;
}
