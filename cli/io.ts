import type { Readable } from 'node:stream';
import type { TerminalSize } from '../shell-protocol/frames.ts';
import { ask, askSecret } from './terminal/prompt.ts';
import { visible } from './output/safe-text.ts';

/** An output stream of the process. */
export interface Sink {
  write(text: string): boolean;
  once(event: 'drain', listener: () => void): unknown;
}

/** Standard streams byte for byte, and the terminal that they may be. */
export interface TerminalStreams {
  stdin: Readable & { setRawMode?: (isRaw: boolean) => unknown };
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  size: () => TerminalSize;
  /** Calls the listener after each change of the size; returns a function that ends this. */
  onResize: (listener: () => void) => () => void;
}

/** The streams and variables of a command. */
export interface Io {
  out: Sink;
  err: Sink;
  isTerminal: { in: boolean; out: boolean; err: boolean };
  /** Width of the terminal in columns. */
  columns: number;
  env: Readonly<Record<string, string | undefined>>;
  folder: string;
  now: () => number;
  streams: () => TerminalStreams;
  /** Reads all of standard input. */
  readInput: () => Promise<string>;
  /** Asks at the terminal, and returns the typed line. */
  ask: (question: string) => Promise<string>;
  /** Like `ask`, but the terminal does not show what is typed. */
  askSecret: (question: string) => Promise<string>;
}

/** Returns the process's own streams and variables. */
export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  return {
    out: stdout,
    err: stderr,
    isTerminal: { in: stdin.isTTY, out: stdout.isTTY, err: stderr.isTTY },
    columns: stdout.isTTY ? stdout.columns : 120,
    env,
    folder: process.cwd(),
    now: Date.now,
    streams: () => ({
      ...{ stdin, stdout, stderr },
      size: () => ({ columns: Math.max(stdout.columns, 1), rows: Math.max(stdout.rows, 1) }),
      onResize: (listener) => {
        stdout.on('resize', listener);
        return () => void stdout.off('resize', listener);
      },
    }),
    readInput: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Uint8Array));
      return Buffer.concat(chunks).toString('utf8');
    },
    ask: (question) => ask(question),
    askSecret: (question) => askSecret(question),
  };
}

/** Writes text to a stream, and waits while its buffer is full. */
export async function write(sink: Sink, text: string): Promise<void> {
  if (!sink.write(text)) await new Promise<void>((resolve) => void sink.once('drain', resolve));
}

/** Writes a line for people to standard error. */
export function note(io: Io, line: string): void {
  io.err.write(`${visible(line)}\n`);
}
