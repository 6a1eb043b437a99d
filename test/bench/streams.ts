import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { EventReader } from '../../api/testing/event-reader.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { localhostLookup } from '../client/local-http.ts';
import type { RestClient } from '../client/rest-client.ts';
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
      const { harness, cluster } = bench;
      const target = await progress.step('an environment', () => addEnvironment(bench, harness));
      const users = await progress.step('users', () => addMembers(harness, Math.ceil(streams / streamsPerUser)));
      const before = await cluster.usage('coppice-api');
      const readers: EventReader[] = [];
      try {
        await progress.step(`${streams} streams`, () => openAll(harness, users, readers));
        const idle = await progress.step(`${idleSeconds} s idle`, () =>
          usedIn(cluster, () => sleep(idleSeconds * 1000)),
        );
        const busy: { seen: number[]; arrived: number[]; cpuMs: number[]; memoryMiB: number[] } = {
          ...{ seen: [], arrived: [], cpuMs: [], memoryMiB: [] },
        };
        await progress.step(`${changes} changes`, async () => {
          Object.assign(busy, await usedIn(cluster, () => change(bench, target, readers, busy)));
        });
        return figuresOf(streams, before, idle, busy);
      } finally {
        for (const reader of readers) reader.close();
      }
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

/** Adds members to the harness's group, who have accepted their invitations. */
async function addMembers(harness: Harness, count: number): Promise<RestClient[]> {
  const users: RestClient[] = [];
  const members = z.array(z.looseObject({ name: z.string(), invitation: z.string().optional() }));
  await atOnce(2, Array.from({ length: count }), async () => {
    const user = await harness.newUser();
    users.push(user);
  });
  for (const user of users) {
    const body = { name: user.email };
    const all = await harness.client.call(members, 'POST', `/api/group/${harness.group}/members`, body);
    const { invitation } = all.find(({ name }) => name === user.email) ?? {};
    await user.call(z.unknown(), 'POST', '/api/user/invitation', { invitation });
  }
  return users;
}

async function openAll({ connection }: Harness, users: readonly RestClient[], readers: EventReader[]): Promise<void> {
  const all = users.flatMap((user) => Array.from({ length: streamsPerUser }, () => user));
  await atOnce(16, all, async ({ token = '' }) => {
    const headers = { 'x-service-token': token };
    const reader = await EventReader.open(`${connection.apiUrl}/api/events`, headers, localhostLookup);
    if (reader.status !== 200) throw new Error(`a stream was answered ${reader.status}`);
    readers.push(reader);
  });
}

/** Changes the environment, and takes when a watch of the API server and each stream have it. */
async function change(
  { cluster, watch }: Bench,
  target: Target,
  readers: readonly EventReader[],
  { seen, arrived }: { seen: number[]; arrived: number[] },
): Promise<void> {
  for (let index = 0; index < changes; index++) {
    const displayName = `change ${index}`;
    const start = performance.now();
    const since = () => performance.now() - start;
    const everywhere = readers.map(
      (reader) =>
        new Promise<void>((resolve) => {
          reader.onEvent = ({ data }) => {
            if ((data['item'] as { name?: string } | undefined)?.name !== displayName) return;
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

async function usedIn(cluster: ObservedCluster, work: () => Promise<unknown>) {
  const [before, start] = [await cluster.usage('coppice-api'), performance.now()];
  await work();
  const [after, seconds] = [await cluster.usage('coppice-api'), (performance.now() - start) / 1000];
  const cpuSeconds = (usages: readonly Usage[]) => usages.reduce((sum, one) => sum + one.cpuSeconds, 0);
  return {
    memoryMiB: after.map(({ memoryMiB }) => memoryMiB),
    cpuMs: [((cpuSeconds(after) - cpuSeconds(before)) * 1000) / seconds],
  };
}

function figuresOf(
  streams: number,
  before: readonly Usage[],
  idle: { memoryMiB: number[]; cpuMs: number[] },
  busy: { seen: number[]; arrived: number[]; memoryMiB: number[]; cpuMs: number[] },
): Figure[] {
  const label = `${streams.toLocaleString('en')} event streams`;
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
