import { ENVIRONMENT } from '../../crds/environment.ts';
import type { Progress } from '../cluster/progress.ts';
import { randomName, type Harness } from '../end-to-end/harness.ts';
import { atOnce } from './at-once.ts';
import {
  addBenchGroups,
  addRepository,
  createEnvironment,
  environmentAt,
  targetsOf,
  type Target,
} from './bench-groups.ts';
import { benchHeld, type Bench } from './held.ts';
import { percentile, secondsOf, type Figure } from './measure.ts';
import type { ObservedCluster } from './observed-cluster.ts';
import { pushCommits } from './push-commits.ts';
import { withBench } from './with-bench.ts';

const rounds = 3;
const requests = 600;
/** Number of requests for a group with a thousand environments, all of which are in the response. */
const largeRequests = 100;
const bareList = 'list';
const bareGet = 'API server: GET of an Environment';
const restGet = 'GET /api/environment/{id}';
const requestsAtOnce = 8;
const few = 10;
const groupCount = 10;
const clientsAtOnce = 32;

/** Results of one round: requests per second, and durations in milliseconds. */
interface Taken {
  perSecond: number;
  p50: number;
  p99: number;
}

const measures = [
  { of: 'perSecond', unit: '/s', words: '' },
  { of: 'p50', unit: 'ms', words: ', p50' },
  { of: 'p99', unit: 'ms', words: ', p99', target: '≤ 3 ×' },
] as const;

/** The measured requests, by the name of their figure. */
type Reads = Map<string, () => Promise<void>>;

/**
 * Returns a part that reads through the REST API with ten environments and with this many: both groups are the user's,
 * and the additional environments show what others cost. They are `empty`: only custom resources.
 */
export function benchReads(environments: number) {
  return (progress: Progress): Promise<Figure[]> =>
    withBench(progress, randomName('none'), async ({ harness, ...bench }) => {
      const { cluster, watch } = bench;
      const size = Math.ceil((environments - few) / (groupCount - 1));
      const groups = await addBenchGroups(harness, [few, ...Array.from({ length: groupCount - 1 }, () => size)]);
      await progress.step(`${groupCount} groups`, async () => {
        for (const { origin } of groups) await pushCommits(origin, ['main'], 'compose.yaml', 'services: {}\n');
        for (const group of groups) await addRepository(cluster.client, group);
      });
      const targets = targetsOf(groups);
      const [own, others] = [targets.filter(isOf(harness)), targets.filter((target) => !isOf(harness)(target))];
      const create = async (some: readonly Target[]) => {
        const made = watch.allAt('empty', some, 1800);
        const creating = atOnce(clientsAtOnce, some, (target) =>
          createEnvironment(cluster.client, target, { active: false }),
        );
        await Promise.all([made, creating]);
      };
      const reads = readsOf(harness, cluster, own);
      await progress.step(`${few} environments`, () => create(own));
      const atFew = await progress.step(`reads at ${few}`, () => measureAll(reads));
      const label = `${environments.toLocaleString('en')} environments`;
      const seconds = await progress.step(label, () => secondsOf(() => create(others)));
      const atMany = await progress.step(`reads at ${environments}`, () => measureAll(reads));
      const large = others.filter(({ group }) => group === others[0]?.group);
      const atLarge = await progress.step(`reads of a group of ${size}`, () =>
        measureAll(readsOfLarge(bench, harness, large), largeRequests),
      );
      const held = await benchHeld(bench, targets, label);
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
    measures.map(({ of, unit, words }) => ({
      name: `${name}${words}, of ${size.toLocaleString('en')} environments`,
      unit,
      samples: samples(name, of),
      baseline: { name: 'API server: list', samples: samples(bareList, of) },
    })),
  );
}

function isOf({ group }: Harness): (target: Target) => boolean {
  return (target) => target.group === group;
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

function readByRest(client: Harness['client'], path: string): () => Promise<void> {
  return async () => {
    const { status, text } = await client.send('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  };
}

/** Measures the reads in alternating rounds, so that other load affects all of them; ignores the first round. */
async function measureAll(reads: Reads, count = requests): Promise<Map<string, Taken[]>> {
  const taken = new Map([...reads.keys()].map((name) => [name, [] as Taken[]]));
  for (const read of reads.values()) await measure(read, count);
  for (let round = 0; round < rounds; round++) {
    for (const [name, read] of reads) taken.get(name)?.push(await measure(read, count));
  }
  return taken;
}

async function measure(read: () => Promise<void>, count: number): Promise<Taken> {
  const times: number[] = [];
  const start = performance.now();
  await atOnce(
    requestsAtOnce,
    Array.from({ length: count }, () => read),
    async (one) => {
      const started = performance.now();
      await one();
      times.push(performance.now() - started);
    },
  );
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: count / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

function figuresOf(reads: Reads, atFew: Map<string, Taken[]>, atMany: Map<string, Taken[]>, many: number): Figure[] {
  const beside = measures.map(({ of, unit, words }) => ({
    name: `${restGet}${words}, at ${many.toLocaleString('en')}`,
    unit,
    samples: (atMany.get(restGet) ?? []).map((one) => one[of]),
    baseline: { name: "API server's own GET", samples: (atMany.get(bareGet) ?? []).map((one) => one[of]) },
  }));
  const before = [...reads.keys()].flatMap((name) =>
    measures.map(({ of, unit, words, ...more }): Figure => {
      const samples = (taken: Map<string, Taken[]>) => (taken.get(name) ?? []).map((one) => one[of]);
      const isOurs = name.startsWith('GET');
      return {
        name: `${name}${words}, at ${many.toLocaleString('en')}`,
        unit,
        samples: samples(atMany),
        baseline: { name: `at ${few}`, samples: samples(atFew) },
        ...(isOurs && more),
      };
    }),
  );
  return [...before, ...beside];
}
