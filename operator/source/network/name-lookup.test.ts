import { afterEach, expect, test } from '@jest/globals';
import { startDns, type LocalDns } from './testing/dns-server.ts';

const servers: LocalDns[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

const files: Record<string, string> = {
  '/etc/hosts': '127.0.0.1 localhost # here\n::1 localhost Alias\n',
  '/etc/resolv.conf': 'nameserver 10.0.0.1\nsearch a.svc.cluster.local cluster.local\noptions ndots:5\n',
};

/** A lookup with a DNS server that knows these names, and is silent about those below `silent`. */
async function lookup(known: Record<string, string>) {
  const clock = { ms: 0 };
  const server = await startDns((name) => known[name], {
    read: (path) => Promise.resolve(files[path] ?? ''),
    now: () => clock.ms,
    timeoutMs: 1000,
  });
  servers.push(server);
  return { ...server, clock };
}

test('asks DNS, and uses the search list only for names within the cluster', async () => {
  const { names } = await lookup({ 'git.example.com': '192.0.2.1', 'redis.a.svc.cluster.local': '192.0.2.2' });
  expect(await names.find('Git.example.com')).toEqual([{ address: '192.0.2.1', family: 4 }]);
  expect(await names.find('redis')).toEqual([{ address: '192.0.2.2', family: 4 }]);
  await expect(names.find('redis.a')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

test('reads the hosts file first', async () => {
  const { names, asked } = await lookup({});
  expect(await names.find('localhost')).toEqual(expect.arrayContaining([{ address: '::1', family: 6 }]));
  expect(await names.find('alias')).toEqual([{ address: '::1', family: 6 }]);
  expect(asked).toEqual([]);
});

test('limits the time of names whose DNS does not respond, without delaying others', async () => {
  const { names } = await lookup({ 'git.example.com': '192.0.2.1' });
  const silent = Promise.allSettled(Array.from({ length: 20 }, (_, n) => names.find(`n${n}.silent`)));
  const winner = await Promise.race([silent, names.find('git.example.com')]);
  expect(winner).toEqual([{ address: '192.0.2.1', family: 4 }]);
  for (const result of await silent) expect(result).toMatchObject({ reason: { code: 'ETIMEOUT' } });
});

test('remembers a failure for some seconds', async () => {
  const { names, asked, clock } = await lookup({});
  await expect(names.find('x.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  const once = asked.length;
  await expect(names.find('x.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked).toHaveLength(once);
  clock.ms += 6000;
  await expect(names.find('x.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(asked.length).toBeGreaterThan(once);
});
