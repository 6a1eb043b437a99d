import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, chmodSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { CliError, codeOf } from '../errors.ts';
import type { Io } from '../io.ts';

const contextSchema = z.object({
  url: z.string(),
  token: z.optional(z.string()),
  email: z.optional(z.string()),
});
/** A server, and the login there. */
export type Context = z.infer<typeof contextSchema>;

const configSchema = z.object({
  current: z.optional(z.string()),
  contexts: z._default(z.record(z.string(), contextSchema), {}),
});
export type Config = z.infer<typeof configSchema>;

/** Returns the path of the file with the contexts. */
export function configPath({ env }: Pick<Io, 'env'>): string {
  const base = env['XDG_CONFIG_HOME'] ?? '';
  // The specification ignores relative paths.
  const folder = base.startsWith('/') ? base : join(env['HOME'] ?? homedir(), '.config');
  return join(folder, 'coppice', 'config.json');
}

/** Reads the contexts; a missing file has none. @throws CliError */
export function readConfig(io: Pick<Io, 'env'>): Config {
  const path = configPath(io);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { contexts: {} };
    throw new CliError(`${path} cannot be read. Check its permissions`, undefined, { cause: error });
  }
  // A copy or an editor may have made the tokens readable by other users.
  if ((statSync(path).mode & 0o077) !== 0) restrict(path);
  try {
    return configSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new CliError(`${path} is not a configuration of coppice. Delete it, then sign in again`, undefined, {
      cause: error,
    });
  }
}

/** Makes the file readable by its owner only. A mounted file, such as one of a Secret, cannot be changed. */
function restrict(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    if (!['EROFS', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
  }
}

/** Replaces the file atomically, readable by its owner only. @throws CliError */
export function writeConfig(io: Pick<Io, 'env'>, config: Config): void {
  const path = configPath(io);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const temporary = `${path}.${randomBytes(6).toString('hex')}`;
    writeFileSync(temporary, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    const why = codeOf(error) ?? String(error);
    throw new CliError(`${path} cannot be written (${why}). Set XDG_CONFIG_HOME to a folder of yours`, undefined, {
      cause: error,
    });
  }
}
