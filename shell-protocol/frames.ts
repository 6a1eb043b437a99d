/**
 * The WebSocket frames of a shell session or a forwarded port, between the API and its clients. A binary frame is data: a
 * byte that names the channel, then the bytes. A text frame is a control message in JSON.
 */
export const CHANNEL = { input: 0, output: 1, error: 2 } as const;

/** How much a side may send before the other side confirms that it has processed some of it. */
export const WINDOW = 256 * 1024;
/** A side confirms when it has processed this much. */
export const CONFIRM_AFTER = 64 * 1024;
/** Maximum number of bytes of a data frame, with its channel. */
export const MAX_FRAME_BYTES = 32 * 1024 + 1;
/** What a frame counts at least: short ones cost memory too. */
const minCost = 512;

/** Close codes. 1000, 1008, 1011 and 1012 are those of RFC 6455 and IANA; the others are from the range for applications. */
export const CLOSE = {
  ended: 1000,
  invalid: 1008,
  failed: 1011,
  unauthorized: 4401,
  gone: 4404,
  idle: 4408,
} as const;

export interface TerminalSize {
  columns: number;
  rows: number;
}

/** The first message of the client of a shell session. */
export interface StartMessage {
  start: {
    /** Absent: a shell. */
    command?: string[] | undefined;
    /** A terminal of this size; absent: none, and standard output and error are separate. */
    terminal?: TerminalSize | undefined;
    /** Whether the command has a standard input. */
    input: boolean;
  };
}

export type ClientMessage = StartMessage | { resize: TerminalSize } | { inputEnd: true } | { confirmed: number };

export type ServerMessage =
  | { started: { pod: string; container: string } }
  | { confirmed: number }
  /** The command has ended. */
  | { exit: { code: number } }
  /** The forwarded connection has ended. */
  | { end: true }
  /** The command could not be run, or the connection could not be made. */
  | { failed: { message: string } };

/** Returns how much a data frame counts towards the window. */
export function costOf({ byteLength }: { byteLength: number }): number {
  return Math.max(byteLength, minCost);
}

/** Returns a data frame. */
export function dataFrame(channel: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(bytes.byteLength + 1);
  frame[0] = channel;
  frame.set(bytes, 1);
  return frame;
}

/** Yields bytes as data frames of the permitted size. */
export function* dataFrames(channel: number, bytes: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  for (let from = 0; from < bytes.byteLength; from += MAX_FRAME_BYTES - 1) {
    yield dataFrame(channel, bytes.subarray(from, from + MAX_FRAME_BYTES - 1));
  }
}
