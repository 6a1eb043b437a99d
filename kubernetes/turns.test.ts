import { expect, test } from '@jest/globals';
import fc from '../test/properties.ts';
import { Turns, type Turn } from './turns.ts';

const turn = fc.record({ party: fc.constantFrom('a', 'b', 'c'), key: fc.constantFrom('x', 'y', 'z') });
const most = fc.record({ party: fc.integer({ min: 1, max: 4 }), key: fc.integer({ min: 1, max: 4 }) });
const step = fc.oneof(
  fc.record({ do: fc.constant('push' as const), turn }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('end' as const), which: fc.nat() }),
);

interface Item extends Turn {
  id: number;
}

const isOf = (part: 'party' | 'key', name: string) => (item: Item) => item[part] === name;

test('property: no share is exceeded, nothing that may begin is left, none is lost, and of one party and key the first comes first', () => {
  fc.assert(
    fc.property(most, fc.array(step, { maxLength: 80 }), (limits, steps) => {
      const turns = new Turns<Item>(limits);
      let waiting: Item[] = [];
      const atWork: Item[] = [];
      const mayBegin = ({ party, key }: Item) =>
        atWork.filter(isOf('party', party)).length < limits.party &&
        atWork.filter(isOf('key', key)).length < limits.key;
      for (const [id, one] of steps.entries()) {
        if (one.do === 'push') {
          const item = { ...one.turn, id };
          turns.push(one.turn, item);
          waiting.push(item);
        } else if (one.do === 'end') {
          const [ended] = atWork.splice(one.which % Math.max(1, atWork.length), 1);
          if (ended) turns.ended(ended);
        } else {
          const taken = turns.take();
          expect(taken === undefined).toBe(!waiting.some(mayBegin));
          if (!taken) continue;
          expect(mayBegin(taken)).toBe(true);
          expect(waiting.find(({ party, key }) => party === taken.party && key === taken.key)).toBe(taken);
          waiting = waiting.filter((item) => item !== taken);
          atWork.push(taken);
        }
        expect(turns.size).toBe(waiting.length);
      }
    }),
    { numRuns: 500 },
  );
});

test('property: however much others bring, a party waits for one turn of each, and a key for one of each of its party', () => {
  const others = fc.array(fc.record({ party: fc.constantFrom('a', 'b', 'c'), key: fc.string() }), { maxLength: 60 });
  const own = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 30 });
  fc.assert(
    fc.property(others, own, (theirs, ours) => {
      const turns = new Turns<Turn>({ party: Infinity, key: Infinity });
      for (const one of theirs) turns.push(one, one);
      for (const key of ours) turns.push({ party: 'own', key }, { party: 'own', key });
      const last = { party: 'own', key: 'last' };
      turns.push(last, last);
      const before: Turn[] = [];
      for (let next = turns.take(); next && next !== last; next = turns.take()) before.push(next);
      const isOurs = ({ party }: Turn) => party === 'own';
      expect(before.filter(isOurs)).toHaveLength(new Set(ours).size);
      const rounds = new Set(ours).size + 1;
      for (const party of ['a', 'b', 'c'])
        expect(before.filter((one) => one.party === party).length).toBeLessThanOrEqual(rounds);
    }),
  );
});
