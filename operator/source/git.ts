import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SourceRefusedError, SourceUnreachableError } from './errors.ts';
import { Slots } from './slots.ts';

export interface GitRunner {
  /** Runs git with these arguments in a folder of its own; rejects with a typed source error. */
  run(args: readonly string[]): Promise<string>;
}

export interface GitOptions {
  /** Where temporary folders are made. */
  scratch: string;
  config: string;
  timeoutMs: number;
  /** Output beyond this is refused. */
  maxOutputBytes?: number;
}

/** Gives a git whose configuration is `config` alone, in a scratch folder that is removed afterwards. */
export async function withGit<T>(options: GitOptions, use: (git: GitRunner) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(options.scratch, 'git-'));
  try {
    const configFile = join(folder, 'gitconfig');
    await writeFile(configFile, options.config, { mode: 0o600 });
    const env = {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: folder,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: configFile,
      GIT_TERMINAL_PROMPT: '0',
      GIT_ALLOW_PROTOCOL: 'http:https',
      ...inherited(['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO']),
    };
    const limits: GitLimits = {
      timeoutMs: options.timeoutMs,
      maxOutputBytes: options.maxOutputBytes ?? 16 * 1024 * 1024,
    };
    return await use({ run: (args) => slots.run(() => runGit(args, folder, env, limits)) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** So many run at once: each may take what `prlimit` lets it, and they share the operator's memory. */
const slots = new Slots(3);

interface GitLimits {
  timeoutMs: number;
  maxOutputBytes: number;
}

/** Address space, size of one file, and processor seconds of one process: a hostile server must not feed it at will. */
const processLimits = ['--as=268435456', '--fsize=268435456', '--cpu=30'];

/**
 * Runs git in a process group of its own, which ends as a whole: git leaves the transfer to helpers that would outlive
 * it.
 */
function runGit(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, limits: GitLimits): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('prlimit', [...processLimits, '--', 'git', ...args], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
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
    child.on('close', (code) => {
      clearTimeout(timer);
      endGroup(child.pid);
      if (code === 0 && why === undefined) resolve(Buffer.concat(stdout).toString('utf8'));
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

const refusals: [RegExp, SourceRefusedError['reason'], string][] = [
  [
    /Authentication failed|could not read Username|could not read Password|error: 401|error: 403/,
    'AuthenticationFailed',
    'the Git host refused the credentials, or wants some: check user name and password',
  ],
  [
    /not found|does not appear to be a git repository|error: 404/i,
    'NotFound',
    'there is no Git repository at this address, or the credentials may not see it',
  ],
  [/couldn't find remote ref/i, 'RefNotFound', 'the ref is not there any more'],
  [
    /redirect|error: 30\d/i,
    'Refused',
    'the Git host redirects to another address, which Coppice does not follow: use the final address',
  ],
];

/** Why a git did not end well: it took too long, said too much, or failed by itself. */
type GitFailure = 'late' | 'too much' | { error: Error };

/** What git's own words mean for the user. Its output never holds credentials: they are in a file. */
export function sourceError(stderr: string, failure: GitFailure): Error {
  if (failure === 'late') return new SourceUnreachableError('the Git host did not answer in time');
  if (failure === 'too much') {
    return new SourceRefusedError('Refused', 'the repository has more files than Coppice reads');
  }
  const cause = failure.error;
  for (const [pattern, reason, message] of refusals) {
    if (pattern.test(stderr)) return new SourceRefusedError(reason, message, { cause });
  }
  // git's own last word, without curl's measured time: the same trouble must read the same, or its condition would
  // change at every try.
  const words = stderr.split('\n').filter((line) => /^(fatal|error): /.test(line));
  const last = (words.at(-1) ?? '').replace(/^(fatal|error): /, '').replace(/ after \d+ ms/, '');
  return new SourceUnreachableError(`the Git host did not answer: ${last || 'git failed without a word'}`, { cause });
}
