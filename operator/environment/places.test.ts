import { expect, test } from '@jest/globals';
import fc from '../../test/properties.ts';
import { LABELS } from '../../crds/labels.ts';
import type { Namespace } from '../../kubernetes/resource-type.ts';
import { Places } from './places.ts';
import { Life } from './testing/life.ts';

const id = (name: string) => ({ group: 'acme', name });

function namespaceOf(name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [LABELS.environment]: name } } };
}

/** Places of a group that has namespaces for `there`; `own`: the Group's own number. */
function placesIn(there: string[], mostPerGroup: number, own?: number) {
  const woken: string[] = [];
  const spec = { ...(own !== undefined && { mostEnvironments: own }) };
  const places = new Places({
    groups: { get: () => ({ spec }) as never },
    namespaces: { byIndex: () => there.map(namespaceOf) },
    mostPerGroup,
    enqueue: (key) => woken.push(key),
  });
  return { places, woken };
}

const words = 'the group acme may have contents in 1 environments at once, and has';

test.each<[string, string[], number, number | undefined, boolean]>([
  ['the first', [], 1, undefined, true],
  ['one too many', ['a'], 1, undefined, false],
  ['one that is there', ['x'], 1, undefined, true],
  ['one that is there, of too many', ['x', 'a', 'b'], 1, undefined, true],
  ['one more where the Group may', ['a'], 1, 2, true],
  ['none where the Group may not', [], 1, 0, false],
])('%s', (_what, there, mostPerGroup, own, gets) => {
  const { places } = placesIn(there, mostPerGroup, own);
  const take = () => places.take(id('x'));
  if (gets) expect(take).not.toThrow();
  else expect(take).toThrow(own === 0 ? 'in 0 environments' : words);
});

test('a place that was given counts before its namespace is there, and is free when it is given back', () => {
  const { places, woken } = placesIn([], 1);
  places.take(id('a'));
  places.take(id('a'));
  expect(() => places.take(id('b'))).toThrow(words);
  expect(woken).toEqual([]);
  places.free(id('a'));
  expect(woken).toEqual(['group-acme/b']);
  places.take(id('b'));
  places.lookAgain('acme');
  expect(woken).toHaveLength(1);
});

test('nobody is woken where there is no room', () => {
  const { places, woken } = placesIn(['a'], 1);
  expect(() => places.take(id('b'))).toThrow(words);
  places.free(id('empty-anyway'));
  places.lookAgain('acme');
  expect(woken).toEqual([]);
});

test('groups do not count one another’s', () => {
  const { places } = placesIn([], 1);
  places.take(id('a'));
  expect(() => places.take({ group: 'other', name: 'a' })).not.toThrow();
});

const names = ['a', 'b', 'c', 'd', 'e'];
const most = 2;
type Happening = [string, 'create' | 'delete' | 'rebuild' | 'remove' | 'operator killed', number];
const happening: fc.Arbitrary<Happening> = fc.tuple(
  fc.constantFrom(...names),
  fc.constantFrom('create', 'delete', 'rebuild', 'rebuild', 'remove', 'operator killed'),
  fc.constantFrom(1, 3, 40, 500, 3999, 4001, 9000),
);

test('never are there more than may be, and as many as may be in the end, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 3, 40), fc.array(happening, { maxLength: 10 }), async (lagMs, happenings) => {
      const life = new Life(lagMs);
      life.mostEnvironments = most;
      const counts: number[] = [];
      life.namespaces.addHandler(() => counts.push(life.namespaces.list().length));
      await life.operate();
      for (const name of names) life.spawn(name, { gitRef: { name, type: 'branch' } });
      try {
        for (const [name, what, ms] of happenings) {
          if (what === 'operator killed') {
            // What it had sent off lands before another one leads.
            await life.stop();
            await life.operate();
          } else if (what === 'remove') life.delete(name);
          else if (life.read(name)) life.request(name, what);
          await life.clock.advance(ms);
        }
        await life.clock.advance(120_000);
        const wanted = life.environments.list().filter(({ status }) => status?.activation?.active === true);
        const settled = life.environments.list().map(({ status }) => {
          const { status: ready, reason } = status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
          return ready === 'True' ? 'ready' : reason;
        });
        expect(Math.max(...counts)).toBeLessThanOrEqual(most);
        expect(life.namespaces.list()).toHaveLength(Math.min(most, wanted.length));
        const waiting = Math.max(0, wanted.length - most);
        expect(settled.filter((one) => one !== 'ready')).toEqual(Array(waiting).fill('TooManyEnvironments'));
      } finally {
        await life.stop();
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

test('those that wait come in when the Group may have more', async () => {
  const life = new Life();
  life.mostEnvironments = 1;
  await life.operate();
  for (const name of names) life.spawn(name, { gitRef: { name, type: 'branch' } });
  await life.clock.advance(10_000);
  expect(life.namespaces.list()).toHaveLength(1);
  const [first, second] = life.environments.list().map(({ status }) => status?.conditions);
  expect([first, second].flat().filter((one) => one?.type === 'Stalled' && one.status === 'True')).toHaveLength(1);
  life.mostEnvironments = 5;
  life.wakeAll();
  await life.clock.advance(10_000);
  expect(life.environments.list().map(({ status }) => status?.state)).toEqual(names.map(() => 'built'));
  await life.stop();
});
