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
}

/** Runs a command line in this process, and records its output. */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, folder = '/', input = '', isTerminal = false, typed, name = 'coppice' } = options;
  const texts = { out: '', err: '' };
  const sink = (name: 'out' | 'err'): Io['out'] => ({
    write: (text) => {
      texts[name] += text;
      return true;
    },
    once: () => undefined,
  });
  const prompted = (mark: string) => (question: string) => {
    texts.err += `${question}${mark}\n`;
    return Promise.resolve(typed ?? '');
  };
  const io: Io = {
    ...{ out: sink('out'), err: sink('err'), env, folder, columns: 120, now: Date.now },
    isTerminal: { in: typed !== undefined, out: isTerminal, err: typed !== undefined },
    readInput: () => Promise.resolve(input),
    ask: prompted(''),
    askSecret: prompted('(hidden)'),
  };
  const code = await runProgram(io, name, args);
  return { code, ...texts };
}
