import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HostTimeoutError, SourceUnreachableError } from '../errors.ts';
import { hostAlias, portHint, type SshOrigin } from '../network/ssh-origin.ts';

export interface KeyPair {
  /** In OpenSSH's format. */
  privateKey: string;
  /** One line, in the format of authorized_keys. */
  publicKey: string;
}

const keygenMs = 20_000;
const keyscanSeconds = 8;
const keyTypes = ['ed25519', 'ecdsa', 'rsa'];
const keyPattern = /^(ssh-ed25519|ecdsa-sha2-nistp\d+|ssh-rsa) [A-Za-z0-9+/]{20,8000}={0,3}$/;

/** Creates a key pair without a passphrase. The private key is briefly stored in a folder below `scratch`. */
export async function createKeyPair(scratch: string, comment: string): Promise<KeyPair> {
  const folder = await mkdtemp(join(scratch, 'ssh-key-'));
  try {
    const file = join(folder, 'key');
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', file], keygenMs);
    const [privateKey, publicKey] = await Promise.all([readFile(file, 'utf8'), readFile(`${file}.pub`, 'utf8')]);
    return { privateKey, publicKey: publicKey.trim() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Requests a host's keys; returns them as lines of a known_hosts file. They are not verified: the first contact pins
 * them. `address` is the host's resolved address.
 * @throws HostTimeoutError when the host does not respond in time; SourceUnreachableError when it closes the connection
 */
export async function askHostKeys(origin: SshOrigin, address: string, now: () => number = Date.now): Promise<string> {
  const { host, port } = origin;
  const alias = hostAlias(origin);
  // Passes address and name by standard input, so that an origin is never parsed as an argument.
  const args = ['-T', String(keyscanSeconds), '-t', keyTypes.join(','), '-p', String(port), '-f', '-'];
  const startedAt = now();
  const unreachable = (cause?: unknown): SourceUnreachableError => {
    const message = `no SSH server answered at ${host}, port ${port}${portHint(origin)}`;
    // ssh-keyscan fails without a message both for a refused connection and on timeout: only its duration shows which.
    const isTimeout = now() - startedAt >= keyscanSeconds * 1000;
    return isTimeout ? new HostTimeoutError(message) : new SourceUnreachableError(message, { cause });
  };
  const output = await run('ssh-keyscan', args, 3 * keyscanSeconds * 1000, `${address} ${host}\n`).catch(
    (error: unknown) => {
      throw unreachable(error);
    },
  );
  const keys = output
    .split('\n')
    .flatMap((line) => (line.startsWith(`${alias} `) ? [line.slice(alias.length + 1).trim()] : []))
    .filter((key) => keyPattern.test(key));
  if (keys.length === 0) throw unreachable();
  return keys
    .sort()
    .map((key) => `${alias} ${key}\n`)
    .join('');
}

function run(program: string, args: readonly string[], timeout: number, input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' };
    const options = { env, timeout, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 } as const;
    const child = execFile(program, args, options, (error, stdout) => {
      if (error) reject(new Error(`${program} failed`, { cause: error }));
      else resolve(stdout);
    });
    // The process may exit before it has read all input; its exit code is more informative than this error.
    child.stdin?.on('error', () => undefined).end(input);
  });
}
