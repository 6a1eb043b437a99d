import { expect, test } from '@jest/globals';
import type { Flow } from './fair-queue.ts';
import { FairSlots } from './fair-slots.ts';

const tick = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Tasks that run until the test ends them. */
function workshop(count: number) {
  const slots = new FairSlots(count);
  const running = new Map<string, () => void>();
  const launched: string[] = [];
  const start = (name: string, flow: Flow = { tenant: '', group: '', host: name.charAt(0) }) =>
    slots.run(flow, async () => {
      launched.push(name);
      await new Promise<void>((resolve) => running.set(name, resolve));
      running.delete(name);
    });
  const end = async (name: string) => {
    running.get(name)?.();
    await tick();
  };
  return { start, end, launched };
}

test('runs as many as permitted, those of one host in order, and continues after a failure', async () => {
  const slots = new FairSlots(4);
  const order: string[] = [];
  let running = 0;
  let max = 0;
  const work = (name: string) => async () => {
    running += 1;
    max = Math.max(max, running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    order.push(name);
    if (name === 'b') throw new Error(name);
  };
  const all = await Promise.allSettled(
    ['a', 'b', 'c', 'd', 'e'].map((name) => slots.run({ tenant: '', group: '', host: 'one' }, work(name))),
  );
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(max).toBe(2);
});

test('leaves a slot for another host when one hangs', async () => {
  const { start, launched } = workshop(4);
  const started = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => start(name));
  await tick();
  expect(started).toHaveLength(5);
  expect(launched).toEqual(['a1', 'a2', 'b1']);
});

test('leaves a slot for another tenant when all groups and hosts of one hang', async () => {
  const { start, launched } = workshop(4);
  const started = ['a1', 'b1', 'c1', 'd1', 'e1'].map((name) =>
    start(name, { tenant: 'evil', group: name, host: name }),
  );
  started.push(start('x1', { tenant: 'acme', group: 'shop', host: 'x' }));
  await tick();
  expect(started).toHaveLength(6);
  expect(launched).toEqual(['a1', 'b1', 'c1', 'x1']);
});

test('starts everything that waited for a task that ends', async () => {
  const { start, end, launched } = workshop(4);
  const at = (name: string, tenant: string, host: string) => start(name, { tenant, group: tenant, host });
  const started = [at('1', 'p', 'h'), at('2', 'p', 'h'), at('3', 'p', 'i')];
  started.push(at('4', 'p', 'j'), at('5', 'q', 'h'));
  await tick();
  expect(launched).toEqual(['1', '2', '3']);
  await end('1');
  expect(started).toHaveLength(5);
  // The other tenant has no running items yet.
  expect(launched).toEqual(['1', '2', '3', '5', '4']);
});

test('serves hosts alternately', async () => {
  const { start, end, launched } = workshop(1);
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => start(name));
  await tick();
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name);
  await Promise.all(all);
  expect(launched).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('alternates between the tenants of a host, regardless of who was first or has most', async () => {
  const { start, end, launched } = workshop(1);
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) =>
    start(name, { tenant: name.charAt(0), group: '', host: 'host' }),
  );
  await tick();
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name);
  await Promise.all(all);
  expect(launched).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('gives a host one of three slots, and a tenant two', async () => {
  const { start, launched } = workshop(3);
  const flow = (group: string, host: string) => ({ tenant: 'evil', group, host });
  const started = [start('1', flow('a', 'h')), start('2', flow('b', 'h')), start('3', flow('b', 'i'))];
  started.push(start('4', flow('c', 'j')), start('5', { tenant: 'acme', group: 'shop', host: 'git' }));
  await tick();
  expect(started).toHaveLength(5);
  expect(launched).toEqual(['1', '3', '5']);
});

test('gives a tenant as many slots as are stated, and others the rest', async () => {
  const slots = new FairSlots(4, { perTenant: 2, perHost: 2 });
  const launched: string[] = [];
  const start = (name: string, group: string) =>
    slots.run({ tenant: group, group, host: group }, () => {
      launched.push(name);
      return new Promise<void>(() => undefined);
    });
  for (const name of ['a1', 'a2', 'a3', 'a4']) void start(name, 'evil');
  void start('b1', 'acme');
  await tick();
  expect(launched).toEqual(['a1', 'a2', 'b1']);
});
