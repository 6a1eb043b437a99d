import { expect, test } from '@jest/globals';
import fc from '../../../../test/properties.ts';
import { environmentNamespace } from '../../../../crds/environment-address.ts';
import { LABELS, MANAGED_BY } from '../../../../crds/labels.ts';
import type { Namespace } from '../../../../kubernetes/resource-type.ts';
import { EnvironmentQuota } from './environment-quota.ts';
import { Simulation } from '../testing/simulation.ts';

const id = (name: string) => ({ group: 'acme', name });

function namespaceOf(name: string): Namespace {
  const labels = { [LABELS.managedBy]: MANAGED_BY, [LABELS.group]: 'acme', [LABELS.environment]: name };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: environmentNamespace(id(name)), labels } };
}

/** Returns the quota of a group with the namespaces `there`. `own`: the Group's own limit. */
function quotaOf(there: string[], maxPerGroup: number, own?: number) {
  const woken: string[] = [];
  let counts = 0;
  const spec = { ...(own !== undefined && { maxActiveEnvironments: own }) };
  const environmentQuota = new EnvironmentQuota({
    groups: { get: () => ({ spec }) as never },
    namespaces: {
      byIndex: () => {
        counts += 1;
        return there.map(namespaceOf);
      },
      get: (key) => there.map(namespaceOf).find(({ metadata }) => metadata.name === key),
    },
    maxPerGroup,
    enqueue: (key) => woken.push(key),
  });
  return { environmentQuota, woken, counts: () => counts };
}

const words = 'the group acme has reached its limit of 1 active environments';

test.each<[string, string[], number, number | undefined, boolean]>([
  ['the first', [], 1, undefined, true],
  ['one too many', ['a'], 1, undefined, false],
  ['an environment that has contents', ['x'], 1, undefined, true],
  ['an environment that has contents, above the limit', ['x', 'a', 'b'], 1, undefined, true],
  ['another one, if the Group has a higher limit', ['a'], 1, 2, true],
  ['none, if the Group has a lower limit', [], 1, 0, false],
])('%s', (_what, there, maxPerGroup, own, gets) => {
  const { environmentQuota } = quotaOf(there, maxPerGroup, own);
  const take = () => environmentQuota.take(id('x'));
  if (gets) expect(take).not.toThrow();
  else expect(take).toThrow(own === 0 ? 'limit of 0 active environments' : words);
});

test('counts a reservation before its namespace exists, and no longer after its release', () => {
  const { environmentQuota, woken } = quotaOf([], 1);
  environmentQuota.take(id('a'));
  environmentQuota.take(id('a'));
  expect(() => environmentQuota.take(id('b'))).toThrow(words);
  expect(woken).toEqual([]);
  environmentQuota.free(id('a'));
  expect(woken).toEqual(['group-acme/b']);
  environmentQuota.take(id('b'));
  environmentQuota.requeueWaiting('acme');
  expect(woken).toHaveLength(1);
});

test('counts no namespaces for an environment that has one, and holds its slot', () => {
  const { environmentQuota, woken, counts } = quotaOf(['a', 'b'], 2);
  environmentQuota.take(id('a'));
  environmentQuota.take(id('b'));
  expect(counts()).toBe(0);
  expect(() => environmentQuota.take(id('c'))).toThrow('limit of 2 active environments');
  expect(counts()).toBe(1);
  expect(woken).toEqual([]);
});

test('requeues nobody while there is no room', () => {
  const { environmentQuota, woken } = quotaOf(['a'], 1);
  expect(() => environmentQuota.take(id('b'))).toThrow(words);
  environmentQuota.free(id('empty-anyway'));
  environmentQuota.requeueWaiting('acme');
  expect(woken).toEqual([]);
});

test('counts each group separately', () => {
  const { environmentQuota } = quotaOf([], 1);
  environmentQuota.take(id('a'));
  expect(() => environmentQuota.take({ group: 'other', name: 'a' })).not.toThrow();
});

const names = ['a', 'b', 'c', 'd', 'e'];
const max = 2;
type Happening = [string, 'create' | 'delete' | 'rebuild' | 'remove' | 'operator killed', number];
const happening: fc.Arbitrary<Happening> = fc.tuple(
  fc.constantFrom(...names),
  fc.constantFrom('create', 'delete', 'rebuild', 'rebuild', 'remove', 'operator killed'),
  fc.constantFrom(1, 3, 40, 500, 3999, 4001, 9000),
);

test('never exceeds the limit, and finally reaches it, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0, 3, 40), fc.array(happening, { maxLength: 10 }), async (lagMs, happenings) => {
      const simulation = new Simulation(lagMs);
      simulation.maxActiveEnvironments = max;
      const counts: number[] = [];
      simulation.namespaces.addHandler(() => counts.push(simulation.namespaces.list().length));
      await simulation.operate();
      for (const name of names) simulation.spawn(name, { gitRef: { name, type: 'branch' } });
      try {
        for (const [name, what, ms] of happenings) {
          if (what === 'operator killed') {
            // Its requests in flight succeed before another operator leads.
            await simulation.stop();
            await simulation.operate();
          } else if (what === 'remove') simulation.delete(name);
          else if (simulation.read(name)) simulation.request(name, what);
          await simulation.clock.advance(ms);
        }
        await simulation.clock.advance(120_000);
        const wanted = simulation.environments.list().filter(({ status }) => status?.activation?.active === true);
        const settled = simulation.environments.list().map(({ status }) => {
          const { status: ready, reason } = status?.conditions?.find(({ type }) => type === 'Ready') ?? {};
          return ready === 'True' ? 'ready' : reason;
        });
        expect(Math.max(...counts)).toBeLessThanOrEqual(max);
        expect(simulation.namespaces.list()).toHaveLength(Math.min(max, wanted.length));
        const waiting = Math.max(0, wanted.length - max);
        expect(settled.filter((one) => one !== 'ready')).toEqual(Array(waiting).fill('TooManyEnvironments'));
      } finally {
        await simulation.stop();
      }
    }),
    { numRuns: 60 },
  );
}, 120_000);

test("requeues waiting environments when the Group's limit is raised", async () => {
  const simulation = new Simulation();
  simulation.maxActiveEnvironments = 1;
  await simulation.operate();
  for (const name of names) simulation.spawn(name, { gitRef: { name, type: 'branch' } });
  await simulation.clock.advance(10_000);
  expect(simulation.namespaces.list()).toHaveLength(1);
  const [first, second] = simulation.environments.list().map(({ status }) => status?.conditions);
  expect([first, second].flat().filter((one) => one?.type === 'Stalled' && one.status === 'True')).toHaveLength(1);
  simulation.maxActiveEnvironments = 5;
  simulation.wakeAll();
  await simulation.clock.advance(10_000);
  expect(simulation.environments.list().map(({ status }) => status?.state)).toEqual(names.map(() => 'built'));
  await simulation.stop();
});
