import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { LfsClient } from '../../images/clone/lfs-client.ts';
import { SourceRefusedError } from '../errors.ts';
import { Source } from '../git/source.ts';
import { createSend } from './send.ts';
import { startDns, type LocalDns } from './testing/dns-server.ts';

/** Stands for a public address, and the other one for the cluster's network: both are on this machine. */
const permitted = '127.0.0.2';
const forbidden = '127.0.0.1';
const isAddressAllowed = (address: string) => address === permitted;
/** Also in the hosts file, with the forbidden address, as for a resolver that somebody else controls. */
const name = 'localhost';

let servers: Server[];
let connections: string[];
let port: number;
let answers: string[];
let dns: LocalDns;

beforeEach(async () => {
  connections = [];
  answers = [];
  servers = [permitted, forbidden].map((address) =>
    createServer((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end('{"objects": []}');
    }).on('connection', () => void connections.push(address)),
  );
  port = 0;
  for (const [index, server] of servers.entries()) {
    await new Promise<void>((resolve) => server.listen(port, [permitted, forbidden][index], resolve));
    ({ port } = server.address() as AddressInfo);
  }
  // The last answer is repeated.
  dns = await startDns(() => (answers.length > 1 ? answers.shift() : answers[0]), { read: () => Promise.resolve('') });
});

afterEach(() => {
  dns.stop();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const url = () => new URL(`http://${name}:${port}/shop.git`);

/** Each client, with one call that connects at least once. */
const clients: [string, () => Promise<unknown>][] = [
  [
    'the API of a Git host, a registry or a token service',
    () => {
      const send = createSend({
        timeoutMs: 2000,
        names: dns.names,
        isAddressAllowed: (_, one) => isAddressAllowed(one),
      });
      return send({ method: 'GET', url: url(), headers: {} });
    },
  ],
  [
    'Git LFS',
    () => {
      const rules = { isAddressAllowed, ports: [port], sshPorts: [] };
      return new LfsClient({ origin: url().href, authorization: undefined, rules, names: dns.names }).locate([]);
    },
  ],
  ['git', () => gitAt((source) => source.check({ origin: url().href, credentials: undefined }))],
];

/** Calls git. The server is not a Git server, so git fails after it has connected: only the address matters. */
async function gitAt(use: (source: Source) => Promise<unknown>): Promise<unknown> {
  const scratch = await mkdtemp(join(tmpdir(), 'rebinding-'));
  const rules = { isAddressAllowed, ports: [port], sshPorts: [] };
  const source = new Source({ scratch, timeoutMs: 5000, lookup: (host) => dns.names.find(host), ...rules });
  try {
    return await use(source);
  } catch (error) {
    if (error instanceof SourceRefusedError && error.reason !== 'AddressRefused') return undefined;
    throw error;
  } finally {
    await rm(scratch, { recursive: true });
  }
}

test.each(clients)('%s: connects to the address that was checked', async (_, call) => {
  answers = [permitted, forbidden];
  await call();
  expect(new Set(connections)).toEqual(new Set([permitted]));
});

test.each(clients)('%s: refuses an address that is forbidden at the time of the next call', async (_, call) => {
  answers = [permitted, forbidden];
  await call();
  await expect(call()).rejects.toThrow(/private or reserved address/);
  expect(new Set(connections)).toEqual(new Set([permitted]));
});
