import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../support/wait-for.ts';
import { endServer, freePort } from '../local-server.ts';

export interface TestNginx {
  port: number;
  stop: () => Promise<void>;
}

/** Starts the machine's nginx. @param servers blocks `server` for a port */
export async function startNginx(servers: (port: number) => string): Promise<TestNginx> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-nginx-'));
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  await writeFile(file, configuration(folder, servers(port)));
  const server = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await waitFor('nginx', 20, () => accepts(server, port));
  return {
    port,
    stop: async () => {
      await endServer(server, 'SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function accepts(server: ChildProcess, port: number): Promise<true | undefined> {
  if (server.exitCode !== null) throw new Error(`nginx ended with ${server.exitCode}`);
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(undefined));
  });
}

function configuration(folder: string, servers: string): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
worker_processes 1;
user root;
pid ${folder}/nginx.pid;
events { worker_connections 64; }
http {
  access_log off;
  ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
${servers}
}
`;
}
