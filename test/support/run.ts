import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { LOCAL_FOLDER, LOG_FILE } from './paths.ts';
import type { Detail } from './progress.ts';
import { withoutProxyPasswords } from './proxies.ts';

export interface RunOptions {
  cwd?: string;
  /** Added to this process's environment. */
  env?: Record<string, string>;
  /** Standard input of the program; never logged, so pass secrets here instead of in arguments. */
  input?: string | Uint8Array;
  /** Timeout in seconds (default 60), after which the program is terminated. */
  deadline?: number;
  /** Called with every line of standard output and error; standard output is then logged too. */
  detail?: Detail;
}

class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** The programs that have not ended, and their names. */
const running = new Map<ChildProcess, string>();
/** Programs that leave nothing half done when they are interrupted, unlike a package manager or a script. */
const interruptible = new Set(['docker', 'go', 'helm', 'kubectl']);
let areEnding = false;

/**
 * Starts no more programs, and returns when the running ones have ended. Interrupts those that can be; calls `waiting` with
 * the names of the others, if there are any. For a process that is about to end.
 */
export async function endPrograms(waiting: (names: string[]) => void): Promise<void> {
  areEnding = true;
  const ended = [...running.keys()].map((child) => once(child, 'exit'));
  for (const [child, name] of running) if (interruptible.has(name)) child.kill('SIGINT');
  const others = [...running.values()].filter((name) => !interruptible.has(name));
  if (others.length > 0) waiting(others);
  await Promise.all(ended);
}

function log(text: string): void {
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  const line = `${new Date().toISOString()} ${withoutProxyPasswords(text)}\n`;
  appendFileSync(LOG_FILE, line, { mode: 0o600 });
}

/**
 * Runs a program without a shell and returns its standard output. Throws a CommandError with the last lines of its
 * standard error when it fails or exceeds its deadline; .local/up.log contains all of it.
 */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { cwd, env, input, deadline = 60, detail } = options;
  const command = [program, ...args].join(' ');
  if (areEnding) return Promise.reject(new Error(`${program} is not started, because another step failed`));
  log(`$ ${command}`);
  return new Promise((fulfil, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env } });
    if (child.pid !== undefined) running.set(child, basename(program));
    child.once('exit', () => running.delete(child));
    const stdout: string[] = [];
    const last: string[] = [];
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
      // A program that the child has started may keep the pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    }, deadline * 1000);

    createInterface(child.stderr).on('line', (line) => {
      const text = withoutProxyPasswords(line);
      log(text);
      detail?.(text);
      last.push(text);
      if (last.length > 12) last.shift();
    });
    if (detail) {
      createInterface(child.stdout).on('line', (text) => {
        log(text);
        detail(text);
      });
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
    // The exit code of a program that ends without reading its input is more informative than EPIPE.
    child.stdin.on('error', (error) => log(`standard input of ${program}: ${error.message}`));
    child.stdin.end(input ?? '');

    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new CommandError(`${program} could not be started: ${error.message}`, null));
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code === 0) return fulfil(stdout.join(''));
      const why = late ? `did not end within ${deadline} s` : `failed (exit code ${code ?? 'none'})`;
      const tail = (last.length > 0 ? last : stdout.join('').trimEnd().split('\n').slice(-12)).join('\n');
      const message = withoutProxyPasswords(`${command}: ${why}. Its output is in ${LOG_FILE}\n${tail}`);
      reject(new CommandError(message, code));
    });
  });
}

/** Like run, but returns undefined if the program fails or does not exist: for checks that may be negative. */
export async function tryRun(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string | undefined> {
  try {
    return await run(program, args, options);
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}
