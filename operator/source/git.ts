import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SourceRefusedError, SourceUnreachableError } from './errors.ts';

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
    return await use({
      run: (args) =>
        new Promise((resolve, reject) => {
          const settings = {
            cwd: folder,
            env,
            timeout: options.timeoutMs,
            killSignal: 'SIGKILL' as const,
            maxBuffer: options.maxOutputBytes ?? 16 * 1024 * 1024,
          };
          execFile('git', args, settings, (error, stdout, stderr) => {
            if (error) reject(sourceError(stderr, error));
            else resolve(stdout);
          });
        }),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
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

/** What git's own words mean for the user. Its output never holds credentials: they are in a file. */
export function sourceError(stderr: string, cause: Error & { killed?: boolean | undefined; code?: unknown }): Error {
  if (cause.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return new SourceRefusedError('Refused', 'the repository has more files than Coppice reads', { cause });
  }
  if (cause.killed) return new SourceUnreachableError('the Git host did not answer in time', { cause });
  for (const [pattern, reason, message] of refusals) {
    if (pattern.test(stderr)) return new SourceRefusedError(reason, message, { cause });
  }
  // Without curl's measured time: the same trouble must read the same, or its condition would change at every try.
  const last = (stderr.trim().split('\n').at(-1) ?? '').replace(/^(fatal|error): /, '').replace(/ after \d+ ms/, '');
  return new SourceUnreachableError(`the Git host did not answer: ${last || cause.message}`, { cause });
}
