import type { BuildLogResult, UnnumberedMessage } from './message.ts';
import type { LogState, StateChange } from './state.ts';

/** A line as it is to be stored: masked, cut, with a time. */
export interface PlannedLine {
  time: string;
  service: string;
  stage: string;
  line: string;
}

/** What one step adds to the stream and changes in the state; with no change there is nothing to do. */
export interface Plan {
  messages: readonly UnnumberedMessage[];
  change: StateChange;
}

const NOTHING: Plan = { messages: [], change: [] };

/**
 * Lines of a source are missing in Redis before the ones to be written: Redis lost what it had acknowledged. The
 * source has to be read again from `linesWritten`.
 */
export class BuildLogGapError extends Error {
  override readonly name = 'BuildLogGapError';
}

/**
 * Adds lines of a source, of which the first is its line number `first` (from 0). Those that are there already, from an
 * earlier or another writer, are left out. Past `maxBytes` of a source one message says so, and the rest is only counted.
 */
export function planAppend(
  state: LogState,
  source: string,
  first: number,
  lines: readonly PlannedLine[],
  maxBytes: number,
): Plan {
  // After the end message nothing may follow: a line that comes later is dropped.
  if (state.hasEnded) return NOTHING;
  const written = state.lines(source);
  if (first > written) {
    throw new BuildLogGapError(
      `${source}: Redis has ${written} of the ${first} lines that were written: read it again`,
    );
  }
  const fresh = lines.slice(written - first);
  if (fresh.length === 0) return NOTHING;
  const messages: UnnumberedMessage[] = [];
  let bytes = state.bytes(source);
  let cut = state.isCut(source);
  for (const line of fresh) {
    if (cut) break;
    const size = Buffer.byteLength(line.line) + 1;
    cut = bytes + size > maxBytes;
    messages.push(
      cut ? { ...line, line: `[this log is longer than ${megabytes(maxBytes)}: the rest is left out]` } : line,
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

/** Adds a line of the operator's own, unless `key` was used before. */
export function planOnce(state: LogState, key: string, line: PlannedLine): Plan {
  if (state.hasOnce(key) || state.hasEnded) return NOTHING;
  return { messages: [line], change: [[`once:${key}`, '1']] };
}

/** Adds the end message, unless it is there. */
export function planEnd(state: LogState, time: string, result: BuildLogResult, message: string): Plan {
  if (state.hasEnded) return NOTHING;
  return { messages: [{ time, end: { result, message } }], change: [['end', '1']] };
}

function megabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}
