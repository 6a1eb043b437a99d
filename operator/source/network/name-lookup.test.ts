import { createSocket, type Socket } from 'node:dgram';
import { afterEach, expect, test } from '@jest/globals';
import { NameLookup } from './name-lookup.ts';

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

const files: Record<string, string> = {
  '/etc/hosts': '127.0.0.1 localhost # here\n::1 localhost Alias\n',
  '/etc/resolv.conf': 'nameserver 10.0.0.1\nsearch a.svc.cluster.local cluster.local\noptions ndots:5\n',
};

function nameOf(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at]; at += 1 + (query[at] ?? 0)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

/** An answer (RFC 1035) of one A record, or NXDOMAIN. */
function answerTo(query: Buffer, address: string | undefined): Buffer {
  const end = 12 + nameOf(query).length + 2 + 4;
  const isA = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(address !== undefined && isA ? 1 : 0, 6);
  head.fill(0, 8, 12);
  if (address === undefined || !isA) return head;
  return Buffer.concat([
    head,
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
  ]);
}

/** A lookup with a DNS server that knows these names, and is silent about those below `silent`. */
async function lookup(known: Record<string, string>) {
  const asked: string[] = [];
  const socket = createSocket('udp4', (query, { port, address }) => {
    const name = nameOf(query);
    asked.push(name);
    if (!name.endsWith('.silent')) socket.send(answerTo(query, known[name]), port, address);
  });
  sockets.push(socket);
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  const clock = { ms: 0 };
  const names = new NameLookup({
    servers: [`127.0.0.1:${port}`],
    read: (path) => Promise.resolve(files[path] ?? ''),
    now: () => clock.ms,
    timeoutMs: 1000,
  });
  return { names, asked, clock };
}

test('DNS is asked, and the search list for names within the cluster alone', async () => {
  const { names } = await lookup({ 'git.example.com': '192.0.2.1', 'redis.a.svc.cluster.local': '192.0.2.2' });
  expect(await names.find('Git.example.com')).toEqual([{ address: '192.0.2.1', family: 4 }]);
  expect(await names.find('redis')).toEqual([{ address: '192.0.2.2', family: 4 }]);
  await expect(names.find('redis.a')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('the hosts file comes first', async () => {
  const { names, asked } = await lookup({});
  expect(await names.find('localhost')).toEqual(expect.arrayContaining([{ address: '::1', family: 6 }]));
  expect(await names.find('alias')).toEqual([{ address: '::1', family: 6 }]);
  expect(asked).toEqual([]);
});

test('names whose DNS does not answer hold no other one up, and end in time', async () => {
  const { names } = await lookup({ 'git.example.com': '192.0.2.1' });
  const silent = Promise.allSettled(Array.from({ length: 20 }, (_, n) => names.find(`n${n}.silent`)));
  const winner = await Promise.race([silent, names.find('git.example.com')]);
  expect(winner).toEqual([{ address: '192.0.2.1', family: 4 }]);
  for (const result of await silent) expect(result).toMatchObject({ reason: { code: 'ETIMEOUT' } });
});

test('a failure is remembered for some seconds', async () => {
  const { names, asked, clock } = await lookup({});
  await expect(names.find('x.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const once = asked.length;
  await expect(names.find('x.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked).toHaveLength(once);
  clock.ms += 6000;
  await expect(names.find('x.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked.length).toBeGreaterThan(once);
});
