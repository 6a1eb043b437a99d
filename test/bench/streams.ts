import { setTimeout as sleep } from 'node:timers/promises';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import type { RestClient } from '../client/rest-client.ts';
import type { Progress } from '../support/progress.ts';
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
import { Browser } from './browser.ts';
import type { Bench } from './held.ts';
import { percentile, type Figure } from './measure.ts';
import type { ObservedCluster, Usage } from './observed-cluster.ts';
import { pushCommits } from './push-commits.ts';
import { withBench } from './with-bench.ts';

/** An account can have 20 streams at each replica. */
const streamsPerUser = 10;
const idleSeconds = 60;
const changes = 60;
/** Interval between two changes. */
const changeEveryMs = 500;

/**
 * Returns a part that opens this many event streams of members of one group, and changes an environment that all of
 * them see.
 */
export function benchStreams(streams: number) {
  return (progress: Progress): Promise<Figure[]> =>
    withBench(progress, randomName('none'), async (bench) => {
      const { harness } = bench;
      const target = await progress.step('an environment', () => addEnvironment(bench, harness));
      const browsers = await progress.step('users', () => addBrowsers(bench, streams, [harness.group], () => []));
      const label = `${streams.toLocaleString('en')} event streams`;
      return withOpen(bench, browsers, async (before) => {
        const { idle, busy } = await measureChanges(bench, browsers, [target]);
        return changeFigures(label, before, idle, busy);
      });
    });
}

/** Adds an empty environment of the harness's user. */
export async function addEnvironment({ cluster, watch }: Bench, harness: Harness): Promise<Target> {
  const [group] = await addBenchGroups(harness, [1]);
  if (!group) throw new Error('there is no group');
  await pushCommits(group.origin, ['main'], 'compose.yaml', 'services: {}\n');
  await addRepository(cluster.client, group);
  const [target] = targetsOf([group]);
  if (!target) throw new Error('there is no environment');
  await Promise.all([watch.allAt('empty', [target], 60), createEnvironment(cluster.client, target, { active: false })]);
  return target;
}

/**
 * Returns this many browsers of new users, who are members of all these groups.
 * @param pathsOf what the page of the browser with this index reads
 */
export async function addBrowsers(
  { harness, cluster }: Bench & { harness: Harness },
  count: number,
  groups: readonly string[],
  pathsOf: (index: number) => readonly string[],
): Promise<Browser[]> {
  const users: RestClient[] = [];
  await atOnce(2, Array.from({ length: Math.ceil(count / streamsPerUser) }), async () => {
    users.push(await harness.newUser());
  });
  const members = [harness.client, ...users].flatMap(({ email }) => email ?? []);
  await atOnce(4, groups, async (name) => {
    await cluster.client.patch<Group>(GROUP, { name }, { spec: { members } });
  });
  const { apiUrl } = harness.connection;
  return Array.from({ length: count }, (_, index) => {
    const { token = '' } = users[index % users.length] ?? {};
    return new Browser({ apiUrl, token, paths: pathsOf(index) });
  });
}

/** Measures with all browsers open, and what the API used before; then closes them. */
export async function withOpen<T>(
  { progress, cluster }: Bench,
  browsers: readonly Browser[],
  measure: (before: readonly Usage[]) => Promise<T>,
): Promise<T> {
  const before = await cluster.usage('coppice-api');
  try {
    await progress.step(`${browsers.length} streams`, () => atOnce(16, browsers, (browser) => browser.open()));
    return await measure(before);
  } finally {
    for (const browser of browsers) browser.close();
  }
}

/** What the API's replicas use. */
export interface ApiUsage {
  memoryMiB: number[];
  /** CPU time of all replicas in milliseconds a second. */
  cpuMs: number[];
}

/** What changes cost, and milliseconds until a watch of the API server and each stream had them. */
export interface Changes extends ApiUsage {
  seen: number[];
  arrived: number[];
}

/** Measures the API while nothing changes, and while one of the targets after the other is changed. */
export async function measureChanges(bench: Bench, browsers: readonly Browser[], targets: readonly Target[]) {
  const { progress, cluster } = bench;
  const idle = await progress.step(`${idleSeconds} s idle`, () => usedIn(cluster, () => sleep(idleSeconds * 1000)));
  const times = { seen: [] as number[], arrived: [] as number[] };
  const used = await progress.step(`${changes} changes`, () =>
    usedIn(cluster, () => change(bench, targets, browsers, times)),
  );
  const busy: Changes = { ...used, ...times };
  return { idle, busy };
}

/** Changes environments, and takes when a watch of the API server and each stream have it. */
async function change(
  { cluster, watch }: Bench,
  targets: readonly Target[],
  browsers: readonly Browser[],
  { seen, arrived }: { seen: number[]; arrived: number[] },
): Promise<void> {
  for (let index = 0; index < changes; index++) {
    const target = targets[Math.floor((index * targets.length) / changes)];
    if (!target) throw new Error('there is nothing to change');
    const displayName = `change ${index}`;
    const start = performance.now();
    const since = () => performance.now() - start;
    const everywhere = browsers.map(
      (browser) =>
        new Promise<void>((resolve) => {
          browser.onChanged = (name) => {
            if (name !== displayName) return;
            arrived.push(since());
            resolve();
          };
        }),
    );
    const isSeen = (one: Environment | undefined) => one?.spec.displayName === displayName;
    await Promise.all([
      watch.until(target, isSeen, 30).then(() => seen.push(since())),
      cluster.client.patch(ENVIRONMENT, environmentAt(target), { spec: { displayName } }),
      ...everywhere,
    ]);
    await sleep(Math.max(0, changeEveryMs - since()));
  }
}

/** Returns what the API uses during the work. */
export async function usedIn(cluster: ObservedCluster, work: () => Promise<unknown>): Promise<ApiUsage> {
  const [before, start] = [await cluster.usage('coppice-api'), performance.now()];
  await work();
  const [after, seconds] = [await cluster.usage('coppice-api'), (performance.now() - start) / 1000];
  return {
    memoryMiB: after.map(({ memoryMiB }) => memoryMiB),
    cpuMs: [((cpuSecondsOf(after) - cpuSecondsOf(before)) * 1000) / seconds],
  };
}

export function cpuSecondsOf(usages: readonly Usage[]): number {
  return usages.reduce((sum, one) => sum + one.cpuSeconds, 0);
}

export function changeFigures(label: string, before: readonly Usage[], idle: ApiUsage, busy: Changes): Figure[] {
  const without = { name: 'without streams', samples: before.map(({ memoryMiB }) => memoryMiB) };
  const latency = (share: number): Figure => ({
    name: `${label}: change in the cluster → event received, p${100 * share}`,
    unit: 'ms',
    samples: [percentile(busy.arrived, share)],
    baseline: { name: 'seen by a watch of the API server', samples: [percentile(busy.seen, share)] },
    target: '≤ 300 ms',
  });
  return [
    latency(0.5),
    latency(0.95),
    { name: `${label}: API memory, per replica`, unit: 'MiB', samples: idle.memoryMiB, baseline: without },
    { name: `${label}: API memory after ${changes} changes, per replica`, unit: 'MiB', samples: busy.memoryMiB },
    { name: `${label}: API CPU while idle, all replicas`, unit: 'ms/s', samples: idle.cpuMs },
    { name: `${label}: API CPU at 2 changes a second that all see, all replicas`, unit: 'ms/s', samples: busy.cpuMs },
  ];
}
