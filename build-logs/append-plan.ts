import type { BuildLogResult, UnnumberedMessage } from './message.ts';
import type { LogState, StateChange } from './state.ts';

/** A line as it is stored: masked, truncated, with a time. */
export interface PlannedLine {
  time: string;
  service: string;
  stage: string;
  line: string;
}

/** What one step adds to the stream and changes in the state; without changes there is nothing to write. */
export interface Plan {
  messages: readonly UnnumberedMessage[];
  change: StateChange;
}

/** Limits of one source. */
export interface SourceLimits {
  /** Size of the original lines with their newlines. */
  maxBytes: number;
  /** Each line uses about 100 bytes more in Redis. */
  maxLines: number;
  /** Stored size of all sources of the log together. */
  maxLogBytes?: number;
}

const nothing: Plan = { messages: [], change: [] };

/** Redis has lost acknowledged lines. */
export class LogLostError extends Error {
  override readonly name = 'LogLostError';
}

/**
 * Plans adding lines of a source; `first` is the number of the first line, from 0. Omits lines that are stored already,
 * by an earlier or another writer. Beyond the `limits` of a source one message says so, and further lines are only
 * counted.
 */
export function planAppend(
  state: LogState,
  source: string,
  first: number,
  lines: readonly PlannedLine[],
  limits: SourceLimits,
): Plan {
  // Nothing may follow the end message, so later lines are dropped.
  if (state.hasEnded) return nothing;
  const written = state.lines(source);
  if (first > written) {
    throw new LogLostError(
      `Redis has lost log lines of ${source}: it acknowledged ${first} and has ${written}. Append the others again`,
    );
  }
  const fresh = lines.slice(written - first);
  if (fresh.length === 0) return nothing;
  const messages: UnnumberedMessage[] = [];
  let bytes = state.bytes(source);
  let storedBytes = state.storedBytes;
  let cut = state.isCut(source);
  for (const [index, line] of fresh.entries()) {
    if (cut) break;
    const size = Buffer.byteLength(line.line) + 1;
    storedBytes += size;
    const limit = passedLimit(bytes + size, written + index + 1, storedBytes, limits);
    cut = limit !== undefined;
    messages.push(
      limit === undefined ? line : { ...line, line: `[this log is longer than ${limit}: the rest is omitted]` },
    );
    if (!cut) bytes += size;
  }
  return {
    messages,
    change: [
      [`lines:${source}`, String(written + fresh.length)],
      [`bytes:${source}`, String(bytes)],
      ...(cut ? [[`cut:${source}`, '1'] as const] : []),
    ],
  };
}

/** Plans adding a line of the operator's own, unless `key` was used before. */
export function planOnce(state: LogState, key: string, line: PlannedLine): Plan {
  if (state.hasOnce(key) || state.hasEnded) return nothing;
  return { messages: [line], change: [[`once:${key}`, '1']] };
}

/** Plans adding the end message, unless there is one. */
export function planEnd(state: LogState, time: string, result: BuildLogResult, message: string): Plan {
  if (state.hasEnded) return nothing;
  return { messages: [{ time, end: { result, message } }], change: [['end', '1']] };
}

function passedLimit(
  bytes: number,
  lines: number,
  storedBytes: number,
  { maxBytes, maxLines, maxLogBytes = Infinity }: SourceLimits,
): string | undefined {
  if (bytes > maxBytes) return `${maxBytes / 1024 / 1024} MiB`;
  if (storedBytes > maxLogBytes) return `${maxLogBytes / 1024 / 1024} MiB together with the build's other containers`;
  return lines > maxLines ? `${maxLines} lines` : undefined;
}
