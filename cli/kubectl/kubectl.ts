import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { CliError, codeOf, EXIT } from '../errors.ts';
import { note, type Io } from '../io.ts';
import type { Given } from '../session.ts';
import { ErrorOutput, refusalOf } from './refusal.ts';

export interface KubectlOptions {
  /** Its standard input; empty by default. */
  input?: string;
  signal?: AbortSignal | undefined;
}

/** Runs the kubectl of the PATH, with the kubeconfig and context of the options. No shell reads the arguments. */
export class Kubectl {
  readonly #io: Io;
  readonly #flags: readonly string[];

  constructor(io: Io, given: Given) {
    this.#io = io;
    this.#flags = (['context', 'kubeconfig'] as const).flatMap((name) => {
      const value = given.text(name);
      return value === undefined ? [] : [`--${name}=${value}`];
    });
  }

  /** Runs kubectl, and returns what it prints. @throws ApiError or CliError if it fails */
  async text(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const chunks: string[] = [];
    for await (const chunk of this.#output(args, options)) chunks.push(chunk);
    options.signal?.throwIfAborted();
    return chunks.join('');
  }

  /** Runs kubectl, and returns each line that it prints, until it or the signal ends. @throws ApiError or CliError */
  async *lines(args: readonly string[], options: KubectlOptions = {}): AsyncGenerator<string> {
    let rest = '';
    for await (const chunk of this.#output(args, options)) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  }

  /** Runs kubectl with the standard streams of this process, and returns its exit code. @throws CliError */
  async inherit(args: readonly string[]): Promise<number> {
    const options = { env: this.#io.env, cwd: this.#io.folder, stdio: 'inherit' } as const;
    const child = spawn('kubectl', [...this.#flags, ...args], options);
    const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
    const forget = endWith(() => child.kill());
    try {
      await started(child);
      // A signal ended it.
      return (await exitCode) ?? EXIT.failed;
    } finally {
      forget();
    }
  }

  async *#output(args: readonly string[], { input, signal }: KubectlOptions): AsyncGenerator<string> {
    const { child, exitCode } = await this.#start(args);
    const stop = () => child.kill();
    const forget = endWith(stop);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    try {
      child.stdin.end(input);
      const report = this.#report(child.stderr);
      child.stdout.setEncoding('utf8');
      for await (const chunk of child.stdout) yield String(chunk);
      const [text, code] = await Promise.all([report, exitCode]);
      if (signal?.aborted !== true && code !== 0) throw refusalOf(text);
    } finally {
      signal?.removeEventListener('abort', stop);
      forget();
      stop();
    }
  }

  async #start(args: readonly string[]): Promise<{
    child: ChildProcessWithoutNullStreams;
    exitCode: Promise<number | null>;
  }> {
    // Before the arguments: what follows `--` is names, whatever it looks like.
    const child = spawn('kubectl', [...this.#flags, ...args], { env: this.#io.env, cwd: this.#io.folder });
    const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
    // If kubectl ends before it has read its input, its exit reports the reason.
    child.stdin.on('error', () => undefined);
    await started(child);
    return { child, exitCode };
  }

  /** Returns the final error report, and shows other lines at once, such as the code of a login in a browser. */
  async #report(stderr: Readable): Promise<string> {
    const output = new ErrorOutput();
    let rest = '';
    const take = (line: string) => {
      const shown = output.take(line);
      if (shown !== undefined) note(this.#io, shown);
    };
    stderr.setEncoding('utf8');
    for await (const chunk of stderr) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(take);
    }
    take(rest);
    return output.report;
  }
}

/** @throws CliError if the program cannot be run */
async function started(child: ChildProcess): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT';
    const why = isMissing
      ? 'kubectl was not found. Install it in a folder of PATH'
      : `kubectl cannot be run: ${String(error)}`;
    throw new CliError(why, undefined, { cause: error });
  }
}

/** Exit codes of a process that a signal ends, as shells report them. */
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Stops a program when a signal ends this process: otherwise it would run on, as a watch does for an hour. Returns a
 * function that removes the listeners.
 */
function endWith(stop: () => void): () => void {
  const listeners = Object.entries(signals).map(([name, code]) => {
    const end = () => {
      stop();
      process.exit(code);
    };
    process.once(name, end);
    return [name, end] as const;
  });
  return () => listeners.forEach(([name, end]) => process.removeListener(name, end));
}
