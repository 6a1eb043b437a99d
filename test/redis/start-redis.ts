import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'redis';
import { endServer, freePort } from '../local-server.ts';

/** A separate Redis for a test: the machine's redis-server on a free loopback port, with an AOF as in the chart. */
export interface TestRedis {
  port: number;
  /** Returns a connected client, which reconnects by itself; `stop` closes it. */
  connect: () => Promise<RedisClient>;
  /** Sends SIGKILL. */
  kill: () => Promise<void>;
  /** Sends SIGSTOP: connections stay open without responses until `thaw`. */
  freeze: () => void;
  thaw: () => void;
  /** Starts it again with its data on disk. */
  start: () => Promise<void>;
  /** Ends the clients and the server, and deletes the data. */
  stop: () => Promise<void>;
}

export type RedisClient = ReturnType<typeof newClient>;

export async function startRedis(): Promise<TestRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'coppice-redis-'));
  const port = await freePort();
  const clients: RedisClient[] = [];
  let server = await launch(port, directory);
  return {
    port,
    connect: async () => {
      const client = newClient(port);
      clients.push(client);
      await client.connect();
      return client;
    },
    kill: () => endServer(server, 'SIGKILL'),
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    start: async () => {
      server = await launch(port, directory);
    },
    stop: async () => {
      for (const client of clients) client.destroy();
      await endServer(server, 'SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function newClient(port: number) {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: 50 } });
  // The client reconnects; failures that matter to a test show in its commands.
  client.on('error', () => undefined);
  return client;
}

async function launch(port: number, directory: string): Promise<ChildProcess> {
  const options = { port, bind: '127.0.0.1', dir: directory, appendonly: 'yes', appendfsync: 'always', save: '' };
  const server = spawn(
    'redis-server',
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  for await (const chunk of server.stdout) {
    output += String(chunk);
    if (output.includes('Ready to accept connections')) {
      server.stdout.resume();
      return server;
    }
  }
  throw new Error(`redis-server did not start (is it installed?): ${output}`);
}
