import { beforeEach, expect, test } from '@jest/globals';
import type { Repository } from '../../crds/repository.ts';
import { HostTurns } from './host-turns.ts';

let turns: HostTurns;
/** Of looks that have begun and not ended: what ends each. */
let running: Map<string, () => void>;

beforeEach(() => {
  turns = new HostTurns();
  running = new Map();
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

const repositoryAt = (origin: string, namespace = 'group-acme') =>
  ({ metadata: { namespace }, spec: { type: 'generic', generic: { origin } } }) as Repository;

function look(origin: string, namespace?: string): Promise<void> {
  const wait = () => new Promise<void>((resolve) => running.set(origin, resolve));
  return turns.run(repositoryAt(origin, namespace), wait);
}

async function end(origin: string): Promise<void> {
  running.get(origin)?.();
  running.delete(origin);
  await settled();
}

test('of eight groups that come at once, three are under way', async () => {
  const looks = Array.from({ length: 8 }, (_, i) => look(`https://git-${i}.example/shop.git`, `group-${i}`));
  for (let left = 8; left > 0; left--) {
    await settled();
    expect(running.size).toBe(Math.min(3, left));
    const [first = ''] = running.keys();
    await end(first);
  }
  await Promise.all(looks);
});

test('of one host, one is under way, in the order of coming; another host goes on beside it', async () => {
  const origins = ['https://hangs.example/a.git', 'ssh://git@hangs.example:2222/b.git', 'git@hangs.example:c.git'];
  const looks = [...origins, 'https://git.example/d.git'].map((origin) => look(origin));
  await settled();
  expect([...running.keys()]).toEqual([origins[0], 'https://git.example/d.git']);
  await end('https://git.example/d.git');
  expect([...running.keys()]).toEqual([origins[0]]);
  await end(origins[0] ?? '');
  expect([...running.keys()]).toEqual([origins[1]]);
  await end(origins[1] ?? '');
  await end(origins[2] ?? '');
  await Promise.all(looks);
});

test('of one host, groups take turns, however many repositories one has', async () => {
  const at = (path: string) => `https://git.example/${path}.git`;
  const looks = ['a1', 'a2', 'a3'].map((path) => look(at(path)));
  looks.push(look(at('b1'), 'group-globex'));
  const order: string[] = [];
  for (let left = 4; left > 0; left--) {
    await settled();
    const [origin = ''] = running.keys();
    order.push(origin);
    await end(origin);
  }
  await Promise.all(looks);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3'].map(at));
});

test("a group whose hundred repositories have a host name each, by a wildcard in DNS, keeps no other's waiting", async () => {
  const looks = Array.from({ length: 100 }, (_, i) => look(`https://h${i}.evil.example/r.git`, 'group-evil'));
  const other = look('https://git.example/r.git');
  await settled();
  expect([...running.keys()]).toEqual([
    'https://h0.evil.example/r.git',
    'https://h1.evil.example/r.git',
    'https://git.example/r.git',
  ]);
  while (running.size > 0) for (const origin of [...running.keys()]) await end(origin);
  await Promise.all([...looks, other]);
});
