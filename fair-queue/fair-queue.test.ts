import { describe, expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { FairQueue, type Flow, type FlowLimits } from './fair-queue.ts';

interface Item extends Flow {
  id: string;
}

/**
 * `a.x@h1` is the first item of the group x of the tenant a at the host h. Without `.x` or `@h` it has a group or
 * host of its own.
 */
function item(id: string): Item {
  const [path = '', host = ''] = id.replace(/\d+$/, '').split('@');
  const [tenant = '', group = tenant] = path.split('.');
  return { id, tenant, group: `${tenant}.${group}`, host };
}

function filled(limits: FlowLimits, ids: string): FairQueue<Item> {
  const queue = new FairQueue<Item>(limits);
  for (const id of ids.split(' ').filter(Boolean)) queue.push(item(id), item(id));
  return queue;
}

function takeAll(queue: FairQueue<Item>): string {
  const ids: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) ids.push(next.id);
  return ids.join(' ');
}

describe('takes', () => {
  test.each<[string, FlowLimits, string, string]>([
    ['items of one flow in order of arrival', {}, 'a1 a2 a3', 'a1 a2 a3'],
    ['of tenants in turn', {}, 'a1 a2 a3 b1 c1 c2', 'a1 b1 c1 a2 c2 a3'],
    ['of the groups of a tenant in turn', {}, 'a.x1 a.x2 a.y1 b.z1', 'a.x1 b.z1 a.y1 a.x2'],
    ['of the hosts of a group in turn', {}, 'a@h1 a@h2 a@i1', 'a@h1 a@i1 a@h2'],
    [
      'of a tenant once per round, however many groups it has',
      {},
      'a.v1 a.w1 a.x1 a.y1 b1 b2',
      'a.v1 b1 a.w1 b2 a.x1 a.y1',
    ],
    ['as many as the total', { total: 2 }, 'a1 b1 c1', 'a1 b1'],
    ['of a tenant as many as its limit', { perTenant: 2 }, 'a.v1 a.w1 a.x1 b1', 'a.v1 b1 a.w1'],
    ['of a group as many as its limit', { perGroup: 1 }, 'a.x1 a.x2 a.y1', 'a.x1 a.y1'],
    ['of a host as many as its limit, over all tenants', { perHost: 1 }, 'a@h1 b@h1 b@i1', 'a@h1 b@i1'],
  ])('%s', (_name, limits, ids, expected) => {
    expect(takeAll(filled(limits, ids))).toBe(expected);
  });

  test('the next item from the tenant with the fewest running items', () => {
    const queue = filled({}, 'a1 a2 a3 b1 b2');
    queue.setExecuting([item('a9'), item('a8')]);
    expect(takeAll(queue)).toBe('b1 b2 a1 a2 a3');
  });
});

describe('items that give way', () => {
  const laterAnd = (later: string, others: string) => {
    const queue = new FairQueue<Item>();
    for (const id of later.split(' ')) queue.push(item(id), item(id), { isLater: true });
    for (const id of others.split(' ').filter(Boolean)) queue.push(item(id), item(id));
    return queue;
  };

  test.each<[string, string, string, string]>([
    ['are taken after others of their flow', 'a1 a2', 'a3 a4', 'a3 a4 a1 a2'],
    ['keep their order', 'a1 a2 a3', '', 'a1 a2 a3'],
    ['are taken after three others each, however many there are', 'a1 a2', 'a3 a4 a5 a6 a7', 'a3 a4 a5 a1 a6 a7 a2'],
    ['do not give way to other flows', 'a1 a2', 'b3 b4', 'a1 b3 a2 b4'],
  ])('%s', (_name, later, others, expected) => {
    expect(takeAll(laterAnd(later, others))).toBe(expected);
    expect(
      laterAnd(later, others)
        .order()
        .map(({ id }) => id),
    ).toEqual(expected.split(' '));
  });

  test('can be removed', () => {
    const queue = new FairQueue<Item>();
    const [first, second] = [item('a1'), item('a2')];
    for (const one of [first, second]) queue.push(one, one, { isLater: true });
    queue.remove(first, first);
    expect(queue.size).toBe(1);
    expect(takeAll(queue)).toBe('a2');
    expect(queue.size).toBe(0);
  });
});

describe('a tenant whose single item arrives after all items of another one', () => {
  /** Each item takes a second. Returns after how many seconds the victim's item starts. */
  function waitOfVictim(limits: FlowLimits, others: readonly Item[]): number {
    const queue = new FairQueue<Item>(limits);
    for (const other of others) queue.push(other, other);
    const takeReady = () => {
      const taken: Item[] = [];
      for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next);
      return taken;
    };
    let executing = takeReady();
    queue.push(item('victim'), item('victim'));
    for (let second = 0; second <= others.length; second += 1) {
      const started = takeReady();
      if (started.some(({ id }) => id === 'victim')) return second;
      for (const one of executing) queue.finished(one);
      executing = [...started, ...takeReady()];
      if (executing.some(({ id }) => id === 'victim')) return second + 1;
    }
    return Infinity;
  }

  const slots = { total: 4, perTenant: 3, perHost: 2 };
  const attack = (groups: number, hosts: number) =>
    Array.from({ length: groups * hosts }, (_, index) =>
      item(`evil.${'abcdefghijklmnop'[index % groups] ?? ''}@host${'abcdefghijklmnop'[index % hosts] ?? ''}`),
    );

  test.each<[string, FlowLimits, readonly Item[], number]>([
    ['1 group at 1 host', slots, attack(1, 1), 0],
    ['8 groups at 12 hosts', slots, attack(8, 12), 0],
    [
      '8 groups at 12 hosts, each group a tenant as before',
      slots,
      attack(8, 12).map((one) => ({ ...one, tenant: one.group })),
      3,
    ],
    ['16 builds of 4 groups, 8 of one account at most', { total: 16, perTenant: 8, perGroup: 4 }, attack(4, 4), 0],
    ['everything without limits for a tenant', { total: 4 }, attack(8, 12), 1],
  ])('waits for a bounded number of items of %s', (_name, limits, others, seconds) => {
    expect(waitOfVictim(limits, others)).toBe(seconds);
  });
});

describe('a queue', () => {
  test('gives the slots of finished items to the next', () => {
    const queue = filled({ perTenant: 1 }, 'a1 a2 b1');
    expect(takeAll(queue)).toBe('a1 b1');
    queue.finished(item('a1'));
    expect(takeAll(queue)).toBe('a2');
    expect([queue.size, queue.executing]).toEqual([0, 2]);
  });

  test('forgets a removed item, and ignores an unknown one', () => {
    const queue = new FairQueue<string>();
    for (const id of ['a1', 'a2']) queue.push(item(id), id);
    queue.remove(item('a1'), 'a1');
    queue.remove(item('b1'), 'b1');
    expect([queue.size, queue.take(), queue.take()]).toEqual([1, 'a2', undefined]);
  });

  test('returns the order in which items are taken, beyond the limits, without taking them', () => {
    const queue = filled({ total: 1 }, 'a1 a2 b1');
    queue.setExecuting([item('a9')]);
    expect(queue.order().map(({ id }) => id)).toEqual(['b1', 'a1', 'a2']);
    expect([queue.size, queue.take()]).toEqual([3, undefined]);
  });
});

const flow = fc.record({
  tenant: fc.constantFrom('a', 'b', 'c'),
  group: fc.constantFrom('f', 'g'),
  host: fc.constantFrom('x', 'y', 'z'),
});
const limit = fc.integer({ min: 1, max: 4 });
const limits = fc.record({ total: fc.integer({ min: 1, max: 8 }), perTenant: limit, perGroup: limit, perHost: limit });
const step = fc.oneof(
  fc.record({ do: fc.constant('push' as const), flow }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('finish' as const), which: fc.nat() }),
);

test('property: exceeds no limit, leaves nothing that can start, loses nothing, and keeps the order of each flow', () => {
  fc.assert(
    fc.property(limits, fc.array(step, { maxLength: 80 }), (max, steps) => {
      const queue = new FairQueue<Item>(max);
      let waiting: Item[] = [];
      const executing: Item[] = [];
      const count = (isSame: (one: Item) => boolean) => executing.filter(isSame).length;
      const canStart = ({ tenant, group, host }: Item) =>
        executing.length < max.total &&
        count((one) => one.tenant === tenant) < max.perTenant &&
        count((one) => one.tenant === tenant && one.group === group) < max.perGroup &&
        count((one) => one.host === host) < max.perHost;
      const isOfFlow = (a: Item) => (b: Item) => a.tenant === b.tenant && a.group === b.group && a.host === b.host;
      for (const [index, one] of steps.entries()) {
        if (one.do === 'push') {
          const pushed = { ...one.flow, id: String(index) };
          queue.push(pushed, pushed);
          waiting.push(pushed);
        } else if (one.do === 'finish') {
          const [finished] = executing.splice(one.which % Math.max(1, executing.length), 1);
          if (finished) queue.finished(finished);
        } else {
          const taken = queue.take();
          expect(taken === undefined).toBe(!waiting.some(canStart));
          if (!taken) continue;
          expect(canStart(taken)).toBe(true);
          expect(waiting.find(isOfFlow(taken))).toBe(taken);
          waiting = waiting.filter((other) => other !== taken);
          executing.push(taken);
        }
        expect([queue.size, queue.executing]).toEqual([waiting.length, executing.length]);
      }
    }),
    { numRuns: 500 },
  );
});

test('property: lets a tenant wait for one item of each other tenant per item of its own, whatever its groups', () => {
  const others = fc.array(
    fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), group: fc.string(), host: fc.string() }),
    {
      maxLength: 60,
    },
  );
  fc.assert(
    fc.property(others, fc.integer({ min: 0, max: 20 }), (theirs, ours) => {
      const queue = new FairQueue<Item>();
      for (const one of theirs) queue.push(one, { ...one, id: 'theirs' });
      for (let index = 0; index <= ours; index += 1) queue.push(item(`own${index}`), item(`own${index}`));
      const before: Item[] = [];
      for (let next = queue.take(); next && next.id !== `own${ours}`; next = queue.take()) before.push(next);
      expect(before.filter(({ tenant }) => tenant === 'own')).toHaveLength(ours);
      for (const tenant of ['a', 'b', 'c'])
        expect(before.filter((one) => one.tenant === tenant).length).toBeLessThanOrEqual(ours + 1);
    }),
  );
});
