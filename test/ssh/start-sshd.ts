import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endServer, freePort } from '../local-server.ts';

const run = promisify(execFile);

/** OpenSSH's server as a process of the user who runs the tests, on a free loopback port. */
export interface TestSshd {
  port: number;
  user: string;
  /** Folder of the bare repositories; the path in an origin is this folder and a name. */
  folder: string;
  /** Sets who can log in; nobody at first. */
  authorize: (publicKeys: readonly string[]) => Promise<void>;
  /** Returns the server's public host key, `TYPE BASE64`. */
  hostKey: () => Promise<string>;
  /** Restarts the server with a new host key. */
  changeHostKey: () => Promise<void>;
  /** Returns the server's output. */
  log: () => string;
  stop: () => Promise<void>;
}

export async function startSshd(): Promise<TestSshd> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-sshd-'));
  const port = await freePort();
  const authorizedKeys = join(folder, 'authorized_keys');
  const hostKeyFile = join(folder, 'host_key');
  const config = join(folder, 'sshd_config');
  await writeFile(authorizedKeys, '');
  await writeFile(config, configOf({ port, hostKeyFile, authorizedKeys }));
  // As root, sshd requires this folder for privilege separation.
  if (userInfo().uid === 0) await mkdir('/run/sshd', { recursive: true });
  let output = '';
  const launch = async () => {
    await rm(hostKeyFile, { force: true });
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', hostKeyFile]);
    // sshd executes itself for each connection, and requires its absolute path.
    const { stdout: program } = await run('sh', ['-c', 'PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v sshd']);
    return launchSshd(program.trim(), config, (text) => (output += text));
  };
  let server = await launch();
  return {
    port,
    user: userInfo().username,
    folder,
    authorize: (publicKeys) => writeFile(authorizedKeys, publicKeys.map((key) => `restrict ${key}\n`).join('')),
    hostKey: async () => (await readFile(`${hostKeyFile}.pub`, 'utf8')).split(' ').slice(0, 2).join(' ').trim(),
    changeHostKey: async () => {
      await endServer(server, 'SIGTERM');
      server = await launch();
    },
    log: () => output,
    stop: async () => {
      await endServer(server, 'SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configOf({
  port,
  hostKeyFile,
  authorizedKeys,
}: {
  port: number;
  hostKeyFile: string;
  authorizedKeys: string;
}) {
  return [
    'ListenAddress 127.0.0.1',
    `Port ${port}`,
    `HostKey ${hostKeyFile}`,
    `AuthorizedKeysFile ${authorizedKeys}`,
    'PidFile none',
    // The files are in a folder below /tmp, which is writable by others.
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'AcceptEnv GIT_PROTOCOL',
    'MaxStartups 100',
    '',
  ].join('\n');
}

function launchSshd(program: string, config: string, hear: (text: string) => void): Promise<ChildProcess> {
  const server = spawn(program, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  return new Promise((resolve, reject) => {
    let output = '';
    server.on('error', reject);
    server.on('exit', () => reject(new Error(`sshd did not start (is openssh-server installed?): ${output}`)));
    server.stderr.on('data', (chunk) => {
      hear(String(chunk));
      output += String(chunk);
      if (output.includes('Server listening')) resolve(server);
    });
  });
}
