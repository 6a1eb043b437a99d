import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator, createHostServer } from './host-server.ts';
import { HostAdmin } from './host-admin.ts';
import type { KindName } from './kind.ts';

export interface RunningHost {
  /** Such as http://127.0.0.1:40123. */
  url: string;
  admin: HostAdmin;
  stop(): Promise<void>;
}

/** Runs one type of Git host on this machine, without a cluster. */
export async function startHost(name: KindName): Promise<RunningHost> {
  const root = await mkdtemp(join(tmpdir(), 'coppice-git-host-'));
  const emulator = createEmulator(name, root);
  const server = createHostServer(() => emulator);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    admin: new HostAdmin(url),
    async stop() {
      server.close();
      server.closeAllConnections();
      await rm(root, { recursive: true, force: true });
    },
  };
}
