import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { endServer, freePort } from '../local-server.ts';

/** Three Sentinels that watch a primary. */
export interface Sentinels {
  /** Returns the port of the primary, as a Sentinel reports it. */
  primary: () => Promise<number>;
  /** Waits until they know each other and a replica, so that two of them can replace the primary. */
  ready: () => Promise<void>;
  stop: () => Promise<void>;
}

const name = 'coppice';
const count = 3;

export async function startSentinels(primary: number): Promise<Sentinels> {
  const folder = await mkdtemp(join(tmpdir(), 'coppice-sentinels-'));
  const servers: ChildProcess[] = [];
  const ports: number[] = [];
  for (let index = 0; index < count; index++) {
    const port = await freePort();
    const file = join(folder, `${port}.conf`);
    const configuration = [
      ...[`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`],
      `sentinel monitor ${name} 127.0.0.1 ${primary} 2`,
      `sentinel down-after-milliseconds ${name} 500`,
      `sentinel failover-timeout ${name} 3000`,
    ];
    await writeFile(file, configuration.join('\n'));
    servers.push(spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' }));
    ports.push(port);
  }
  const clients = ports.map((port) => createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: 50 } }));
  for (const client of clients) client.on('error', () => undefined);
  await Promise.all(clients.map((client) => client.connect()));
  const ask = (index: number, ...command: string[]) => {
    const client = clients[index];
    if (!client) throw new Error(`there is no Sentinel ${index}`);
    return client.sendCommand<string[]>(['SENTINEL', ...command, name]);
  };
  return {
    primary: async () => Number((await ask(0, 'get-master-addr-by-name'))[1]),
    ready: async () => {
      const knows = async (index: number) =>
        (await ask(index, 'sentinels')).length === count - 1 && (await ask(index, 'replicas')).length === 1;
      for (const index of clients.keys()) while (!(await knows(index))) await delay(50);
    },
    stop: async () => {
      for (const client of clients) client.destroy();
      await Promise.all(servers.map((server) => endServer(server, 'SIGKILL')));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
