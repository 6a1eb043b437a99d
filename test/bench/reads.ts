import { ENVIRONMENT } from '../../crds/environment.ts';
import type { Progress } from '../support/progress.ts';
import { randomName, type Harness } from '../end-to-end/harness.ts';
import { environmentAt, type Target } from './bench-groups.ts';
import { addEmptyEnvironments, FEW } from './empty-environments.ts';
import { benchHeld, type Bench } from './held.ts';
import { secondsOf, type Figure } from './measure.ts';
import type { ObservedCluster } from './observed-cluster.ts';
import { measureAll, MEASURES, readByRest, type Reads, type Taken } from './read-rounds.ts';
import { withBench } from './with-bench.ts';

const requests = 600;
/** Number of requests for a group with a thousand environments, all of which are in the response. */
const largeRequests = 100;
const bareList = 'list';
const bareGet = 'API server: GET of an Environment';
const restGet = 'GET /api/environment/{id}';

/**
 * Returns a part that reads through the REST API with ten environments and with this many: both groups are the user's,
 * and the additional environments show what others cost. They are `empty`: only custom resources.
 */
export function benchReads(environments: number) {
  return (progress: Progress): Promise<Figure[]> =>
    withBench(progress, randomName('none'), async ({ harness, ...bench }) => {
      const { cluster } = bench;
      const { own, others, size, create } = await addEmptyEnvironments(bench, harness, environments);
      const reads = readsOf(harness, cluster, own);
      await progress.step(`${FEW} environments`, () => create(own));
      const atFew = await progress.step(`reads at ${FEW}`, () => measureAll(reads, requests));
      const label = `${environments.toLocaleString('en')} environments`;
      const seconds = await progress.step(label, () => secondsOf(() => create(others)));
      const atMany = await progress.step(`reads at ${environments}`, () => measureAll(reads, requests));
      const large = others.filter(({ group }) => group === others[0]?.group);
      const atLarge = await progress.step(`reads of a group of ${size}`, () =>
        measureAll(readsOfLarge(bench, harness, large), largeRequests),
      );
      const held = await benchHeld(bench, [...own, ...others], label);
      const created = { name: `${label}, empty: created → all reconciled`, unit: 's', samples: [seconds] };
      return [...figuresOf(reads, atFew, atMany, environments), ...figuresOfLarge(size, atLarge), created, ...held];
    });
}

/**
 * Returns the reads whose responses contain all environments: of their group, their repository, and the API server's
 * list.
 */
function readsOfLarge({ cluster }: Bench, { client }: Harness, targets: readonly Target[]): Reads {
  const [target] = targets;
  if (!target) throw new Error('there is no group with environments');
  const { group } = target;
  const { namespace } = environmentAt(target);
  return new Map([
    ['GET /api/group/{id}', readByRest(client, `/api/group/${group}`)],
    ['GET /api/repository/{id}', readByRest(client, `/api/repository/${group}.app`)],
    [bareList, async () => void (await cluster.client.list(ENVIRONMENT, { namespace }))],
  ]);
}

function figuresOfLarge(size: number, taken: ReadonlyMap<string, Taken[]>): Figure[] {
  const samples = (name: string, of: keyof Taken) => (taken.get(name) ?? []).map((one) => one[of]);
  const byRest = [...taken.keys()].filter((name) => name !== bareList);
  return byRest.flatMap((name) =>
    MEASURES.map(({ of, unit, words }) => ({
      name: `${name}${words}, of ${size.toLocaleString('en')} environments`,
      unit,
      samples: samples(name, of),
      baseline: { name: 'API server: list', samples: samples(bareList, of) },
    })),
  );
}

/** Returns all reads of the contract, and the API server's own read of one Environment. */
function readsOf({ client, group }: Harness, cluster: ObservedCluster, own: readonly Target[]): Reads {
  const [target] = own;
  if (!target) throw new Error('there is no environment to read');
  const at = environmentAt(target);
  const repository = `/api/repository/${group}.app`;
  const paths = {
    '/api/groups': '/api/groups',
    '/api/group/{id}': `/api/group/${group}`,
    '/api/group/{id}/settings': `/api/group/${group}/settings`,
    '/api/repository/{id}': repository,
    '/api/repository/{id}/settings': `${repository}/settings`,
    '/api/environment/{id}': `/api/environment/${group}.${at.name}?build=false`,
    '/api/user/info': '/api/user/info',
  };
  const byRest = Object.entries(paths).map(([name, path]) => [`GET ${name}`, readByRest(client, path)] as const);
  const bare = async () => {
    await cluster.client.get(ENVIRONMENT, at);
  };
  return new Map([...byRest, [bareGet, bare]]);
}

function figuresOf(reads: Reads, atFew: Map<string, Taken[]>, atMany: Map<string, Taken[]>, many: number): Figure[] {
  const beside = MEASURES.map(({ of, unit, words }) => ({
    name: `${restGet}${words}, at ${many.toLocaleString('en')}`,
    unit,
    samples: (atMany.get(restGet) ?? []).map((one) => one[of]),
    baseline: { name: "API server's own GET", samples: (atMany.get(bareGet) ?? []).map((one) => one[of]) },
  }));
  const before = [...reads.keys()].flatMap((name) =>
    MEASURES.map(({ of, unit, words, ...more }): Figure => {
      const samples = (taken: Map<string, Taken[]>) => (taken.get(name) ?? []).map((one) => one[of]);
      const isOurs = name.startsWith('GET');
      return {
        name: `${name}${words}, at ${many.toLocaleString('en')}`,
        unit,
        samples: samples(atMany),
        baseline: { name: `at ${FEW}`, samples: samples(atFew) },
        ...(isOurs && more),
      };
    }),
  );
  return [...before, ...beside];
}
