import { ENVIRONMENT } from '../../crds/environment.ts';
import type { Progress } from '../cluster/progress.ts';
import { randomName, type Harness } from '../end-to-end/harness.ts';
import { atOnce } from './at-once.ts';
import {
  addBenchGroups,
  addRepository,
  createEnvironment,
  environmentAt,
  placesOf,
  type Place,
} from './bench-groups.ts';
import { benchHeld } from './held.ts';
import { percentile, secondsOf, type Figure } from './measure.ts';
import type { ObservedCluster } from './observed-cluster.ts';
import { pushCommits } from './push-commits.ts';
import { withBench } from './with-bench.ts';

const rounds = 3;
const requests = 600;
const requestsAtOnce = 8;
const few = 10;
const groupCount = 10;
const clientsAtOnce = 32;

/** Of one round: how many a second, and how long they took, in milliseconds. */
interface Taken {
  perSecond: number;
  p50: number;
  p99: number;
}

/** What is read, by its name. */
type Reads = Map<string, () => Promise<void>>;

/**
 * A part that reads by REST, at ten environments and at so many, of the same group, which has ten of them: what the others
 * cost it. They are `empty`: custom resources alone.
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
      const places = placesOf(groups);
      const [own, others] = [places.filter(isOf(harness)), places.filter((place) => !isOf(harness)(place))];
      const create = async (some: readonly Place[]) => {
        const made = watch.allAt('empty', some, 1800);
        const creating = atOnce(clientsAtOnce, some, (place) =>
          createEnvironment(cluster.client, place, { active: false }),
        );
        await Promise.all([made, creating]);
      };
      const reads = readsOf(harness, cluster, own);
      await progress.step(`${few} environments`, () => create(own));
      const atFew = await progress.step(`reads at ${few}`, () => measureAll(reads));
      const told = `${environments.toLocaleString('en')} environments`;
      const seconds = await progress.step(told, () => secondsOf(() => create(others)));
      const atMany = await progress.step(`reads at ${environments}`, () => measureAll(reads));
      const held = await benchHeld(bench, places, told);
      const created = { name: `${told}, empty: created → all looked at`, unit: 's', samples: [seconds] };
      return [...figuresOf(reads, atFew, atMany, environments), created, ...held];
    });
}

function isOf({ group }: Harness): (place: Place) => boolean {
  return (place) => place.group === group;
}

/** Every read of the contract, and the API server's own of one Environment. */
function readsOf({ client, group }: Harness, cluster: ObservedCluster, own: readonly Place[]): Reads {
  const [place] = own;
  if (!place) throw new Error('there is no environment to read');
  const at = environmentAt(place);
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
  const byRest = Object.entries(paths).map(([name, path]) => {
    const read = async () => {
      const { status, text } = await client.send('GET', path);
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
    };
    return [`GET ${name}`, read] as const;
  });
  const bare = async () => {
    await cluster.client.get(ENVIRONMENT, at);
  };
  return new Map([...byRest, ['the API server: GET of an Environment', bare]]);
}

/** In turn, round by round, so that what else the machine does meets all of them. */
async function measureAll(reads: Reads): Promise<Map<string, Taken[]>> {
  const taken = new Map([...reads.keys()].map((name) => [name, [] as Taken[]]));
  for (const read of reads.values()) await measure(read, requests / 10);
  for (let round = 0; round < rounds; round++) {
    for (const [name, read] of reads) taken.get(name)?.push(await measure(read, requests));
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
      const begun = performance.now();
      await one();
      times.push(performance.now() - begun);
    },
  );
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: count / seconds, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

function figuresOf(reads: Reads, atFew: Map<string, Taken[]>, atMany: Map<string, Taken[]>, many: number): Figure[] {
  const measures = [
    { of: 'perSecond', unit: '/s', words: 'at' },
    { of: 'p50', unit: 'ms', words: 'p50 at' },
    { of: 'p99', unit: 'ms', words: 'p99 at', target: '≤ 3 ×' },
  ] as const;
  return [...reads.keys()].flatMap((name) =>
    measures.map(({ of, unit, words, ...more }): Figure => {
      const samples = (taken: Map<string, Taken[]>) => (taken.get(name) ?? []).map((one) => one[of]);
      const isOurs = name.startsWith('GET');
      return {
        name: `${name}, ${words} ${many.toLocaleString('en')}`,
        unit,
        samples: samples(atMany),
        baseline: { name: `at ${few}`, samples: samples(atFew) },
        ...(isOurs && more),
      };
    }),
  );
}
