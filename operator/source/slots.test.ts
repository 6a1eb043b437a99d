import { expect, test } from '@jest/globals';
import type { Turn } from '../../kubernetes/turns.ts';
import { Slots } from './slots.ts';

const tick = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Work that ends when it is let. */
function workshop(count: number) {
  const slots = new Slots(count);
  const running = new Map<string, () => void>();
  const begun: string[] = [];
  const start = (name: string, turn: Turn = { key: name.charAt(0), party: '' }) =>
    slots.run(turn, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => running.set(name, resolve));
      running.delete(name);
    });
  const end = async (name: string) => {
    running.get(name)?.();
    await tick();
  };
  return { start, end, begun };
}

test('so many at once, of one key its own order, on after a failure', async () => {
  const slots = new Slots(4);
  const order: string[] = [];
  let running = 0;
  let most = 0;
  const work = (name: string) => async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running -= 1;
    order.push(name);
    if (name === 'b') throw new Error(name);
  };
  const all = await Promise.allSettled(
    ['a', 'b', 'c', 'd', 'e'].map((name) => slots.run({ key: 'one', party: '' }, work(name))),
  );
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(most).toBe(2);
});

test('those that hang hold no other key up: a place is left for it at once', async () => {
  const { start, begun } = workshop(4);
  const started = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => start(name));
  await tick();
  expect(started).toHaveLength(5);
  expect(begun).toEqual(['a1', 'a2', 'b1']);
});

test('a party whose keys all hang, however many it has, holds no other party up: a place is left for it at once', async () => {
  const { start, begun } = workshop(4);
  const started = ['a1', 'b1', 'c1', 'd1', 'e1'].map((name) => start(name, { key: name, party: 'evil' }));
  started.push(start('x1', { key: 'x', party: 'acme' }));
  await tick();
  expect(started).toHaveLength(6);
  expect(begun).toEqual(['a1', 'b1', 'c1', 'x1']);
});

test('one that ends makes room for all that it stood in the way of', async () => {
  const { start, end, begun } = workshop(4);
  const at = (name: string, party: string, key: string) => start(name, { party, key });
  const started = [at('1', 'p', 'h'), at('2', 'p', 'h'), at('3', 'p', 'i')];
  started.push(at('4', 'p', 'j'), at('5', 'q', 'h'));
  await tick();
  expect(begun).toEqual(['1', '2', '3']);
  await end('1');
  expect(started).toHaveLength(5);
  expect(begun).toEqual(['1', '2', '3', '4', '5']);
});

test('keys take turns', async () => {
  const { start, end, begun } = workshop(1);
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => start(name));
  await tick();
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name);
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('parties of one key take turns, whoever came first and has most', async () => {
  const { start, end, begun } = workshop(1);
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => start(name, { key: 'host', party: name.charAt(0) }));
  await tick();
  for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name);
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});
