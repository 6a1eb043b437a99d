import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Flow } from '../../../fair-queue/fair-queue.ts';
import { FairSlots } from '../../../fair-queue/fair-slots.ts';
import { SourceRefusedError } from '../errors.ts';
import { DUMB_PROTOCOL, sourceError, takesTooLong, type GitFailure } from './git-errors.ts';
import { GIT_CONFIG_FILE, type GitFiles } from './git-files.ts';

export interface GitRunner {
  /**
   * Runs git with these arguments in a folder of its own; rejects with a typed source error. `input` is git's standard
   * input, empty by default.
   */
  run(args: readonly string[], input?: string): Promise<Buffer>;
  /**
   * Like run, for a list of refs. Refuses a server with only the dumb HTTP protocol: its list is a plain file, which
   * may arrive truncated without notice. `onAnnounced` gets the bytes of the trace, which show what the server announced, also if the list fails.
   */
  listRemote(args: readonly string[], onAnnounced?: (bytes: number) => void): Promise<string>;
  /**
   * Like run, for a shell script that runs several git commands with the deadline of one: starting a process blocks the
   * operator, starting one from a shell does not. The script is a constant: untrusted values are passed in `words`, its
   * positional parameters, which the shell does not parse.
   */
  runScript(script: string, words: readonly string[]): Promise<string>;
}

export interface GitOptions {
  /** Where temporary folders are created. */
  scratch: string;
  /** The only configuration that git reads. */
  files: GitFiles;
  flow: Flow;
  /** Called when the first program has a slot; an error that it throws ends the work. */
  onSlot?: () => void;
  /** Timeout of one git process, in milliseconds. */
  timeoutMs: number;
  /**
   * Timeout of all git processes together, in milliseconds, so that one repository does not occupy a worker for long.
   */
  totalMs?: number;
  /** Maximum number of bytes of output; more is refused. */
  maxOutputBytes?: number;
  now?: () => number;
}

/** Runs `use` with a git whose only configuration is `files`, in a scratch folder that is removed afterwards. */
export async function withGit<T>(options: GitOptions, use: (git: GitRunner) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(options.scratch, 'git-'));
  try {
    for (const [name, text] of Object.entries(options.files(folder))) {
      await writeFile(join(folder, name), text, { mode: 0o600 });
    }
    const env = {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: folder,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: join(folder, GIT_CONFIG_FILE),
      GIT_TERMINAL_PROMPT: '0',
      ...inherited(['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO']),
    };
    const { timeoutMs, totalMs = Infinity, maxOutputBytes = 16 * 1024 * 1024, now = () => performance.now() } = options;
    let spentMs = 0;
    let hasStarted = false;
    const runProgram = (program: readonly string[], input?: string, trace: Record<string, string> = {}) =>
      slots.run(options.flow, async () => {
        if (!hasStarted) options.onSlot?.();
        hasStarted = true;
        if (spentMs >= totalMs) throw takesTooLong(totalMs);
        const started = now();
        try {
          const call = { program, cwd: folder, env: { ...env, ...trace }, input };
          return await runLimited(call, { timeoutMs, maxOutputBytes });
        } finally {
          spentMs += now() - started;
        }
      });
    const run = (args: readonly string[], input?: string, trace?: Record<string, string>) =>
      runProgram(['git', ...args], input, trace);
    const runScript = async (script: string, words: readonly string[]) =>
      (await runProgram(['sh', '-c', script, 'sh', ...words])).toString('utf8');
    const listRemote = async (args: readonly string[], onAnnounced?: (bytes: number) => void) => {
      const packets = join(folder, 'packets');
      try {
        const output = await run(args, undefined, { GIT_TRACE_PACKET: packets });
        if (!existsSync(packets)) throw new SourceRefusedError('Refused', DUMB_PROTOCOL);
        return output.toString('utf8');
      } finally {
        onAnnounced?.(existsSync(packets) ? (await stat(packets)).size : 0);
        await rm(packets, { force: true });
      }
    };
    return await use({ run, runScript, listRemote });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Maximum number of concurrent processes: each can use what `prlimit` permits, and they share the operator's memory.
 */
const slots = new FairSlots(4);

interface GitCall {
  program: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  input: string | undefined;
}

interface GitLimits {
  timeoutMs: number;
  maxOutputBytes: number;
}

/**
 * Limits of one process: address space, file size, and CPU seconds. A hostile server must not be able to exhaust them.
 */
const processLimits = ['--as=268435456', '--fsize=268435456', '--cpu=30'];

/**
 * Runs git, or a shell that runs git, in its own process group and kills the whole group: git's helpers, which transfer
 * data, would outlive git.
 */
function runLimited({ program, cwd, env, input }: GitCall, limits: GitLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('prlimit', [...processLimits, '--', ...program], {
      cwd,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    let stderr = '';
    let size = 0;
    let why: GitFailure | undefined;
    const end = (reason: GitFailure) => {
      why ??= reason;
      endGroup(child.pid);
    };
    const timer = setTimeout(() => end('late'), limits.timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.maxOutputBytes) end('too much');
      else stdout.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr = (stderr + chunk).slice(-8192)));
    child.on('error', (error) => end({ error }));
    // The process may exit before it has read all input; its exit code is more informative than this error.
    child.stdin.on('error', (error) => (stderr ||= error.message)).end(input);
    child.on('close', (code) => {
      clearTimeout(timer);
      endGroup(child.pid);
      if (code === 0 && why === undefined) resolve(Buffer.concat(stdout));
      else reject(sourceError(stderr, why ?? { error: new Error(`git ended with ${code ?? 'a signal'}`) }));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function inherited(names: string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
