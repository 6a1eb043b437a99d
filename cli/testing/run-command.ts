import { PassThrough, Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../../shell-protocol/frames.ts';
import type { Io } from '../io.ts';
import { runProgram, type ProgramName } from '../program.ts';

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  folder?: string;
  input?: string;
  isTerminal?: boolean;
  /** What is typed at a prompt of the terminal; without it, standard input is not a terminal. */
  typed?: string;
  name?: ProgramName;
  /** The terminal that all standard streams are; without it, they are pipes. */
  terminal?: FakeTerminal;
}

/** A terminal that records its mode. */
export class FakeTerminal {
  readonly stdin = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void this.modes.push(isRaw) });
  readonly modes: boolean[] = [];
  size: TerminalSize = { columns: 80, rows: 24 };
  resized: () => void = () => undefined;
}

/** Runs a command line in this process, and records its output. */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, folder = '/', input = '', isTerminal = false, typed, name = 'coppice', terminal } = options;
  const texts = { out: '', err: '' };
  const sink = (name: 'out' | 'err'): Io['out'] => ({
    write: (text) => {
      texts[name] += text;
      return true;
    },
    once: () => undefined,
  });
  const recorded = (name: 'out' | 'err') =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        texts[name] += chunk.toString('latin1');
        done();
      },
    });
  const prompted = (mark: string) => (question: string) => {
    texts.err += `${question}${mark}\n`;
    return Promise.resolve(typed ?? '');
  };
  const io: Io = {
    ...{ out: sink('out'), err: sink('err'), env, folder, columns: 120, now: Date.now },
    isTerminal: {
      in: typed !== undefined || terminal !== undefined,
      out: isTerminal || terminal !== undefined,
      err: typed !== undefined || terminal !== undefined,
    },
    streams: () => ({
      stdin: terminal?.stdin ?? Readable.from([Buffer.from(input)]),
      stdout: recorded('out'),
      stderr: recorded('err'),
      size: () => terminal?.size ?? { columns: 80, rows: 24 },
      onResize: (listener) => {
        if (terminal) terminal.resized = listener;
        return () => undefined;
      },
    }),
    readInput: () => Promise.resolve(input),
    ask: prompted(''),
    askSecret: prompted('(hidden)'),
  };
  const code = await runProgram(io, name, args);
  return { code, ...texts };
}
