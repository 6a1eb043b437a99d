import { setTimeout as sleep } from 'node:timers/promises';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { RuntimeMetrics } from '../../kubernetes/metrics.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { operatorCaches } from '../../operator/controllers/caches.ts';
import { withCleanUp } from '../support/clean-up.ts';
import type { Progress } from '../support/progress.ts';
import { waitFor } from '../support/wait-for.ts';
import { environmentAt, type Target } from './bench-groups.ts';
import type { EnvironmentWatch } from './environment-watch.ts';
import { secondsOf, type Figure } from './measure.ts';
import { sumOf } from './metrics-page.ts';
import {
  BUILDER_NAMESPACE,
  reportedWrites,
  writesSince,
  type ObservedCluster,
  type Usage,
} from './observed-cluster.ts';

/** Longer than the interval of listing refs, in seconds (chart value sources.pollSeconds). */
const idleSeconds = 330;
const changes = 20;

const own = ['groups', 'repositories', 'environments', 'reusableenvironments'];

/**
 * Returns whether Coppice may have caused the write: statuses of other kinds, and other subresources, are written by
 * Kubernetes. The ConfigMap of housekeeping is written at each run, however many environments there are.
 */
function maybeCoppices(what: string): boolean {
  return own.includes(what.split('/')[0] ?? '') || !(what.includes('/') || what === 'configmaps');
}

export interface Bench {
  progress: Progress;
  cluster: ObservedCluster;
  watch: EnvironmentWatch;
}

/** Measures what idle environments cost: writes, memory, one change, and the operator's restart. */
export async function benchHeld(bench: Bench, targets: readonly Target[], label: string): Promise<Figure[]> {
  await bench.progress.step('until nothing is left to do', () => settled(bench.cluster));
  const { writesPerMinute, used } = await bench.progress.step(`${idleSeconds} s idle`, () =>
    benchIdle(bench.cluster, 'operator', 'api'),
  );
  const noticed = await bench.progress.step(`${changes} changes`, () => benchChanges(bench, targets));
  const restarted = await bench.progress.step("the operator's restart", () =>
    benchRestart(bench.cluster, targets.length),
  );
  const changedSeconds = await bench.progress.step('a change while the operator starts', () =>
    benchChangeWhileStarting(bench, targets),
  );
  const cachedSeconds = await bench.progress.step('the same caches filled', () => fillCaches(bench.cluster.client));
  const apiSeconds = await bench.progress.step("an api replica's restart", () => benchApiRestart(bench.cluster));
  const figure = (name: string, unit: string, samples: number[], more: Partial<Figure> = {}): Figure => ({
    name: `${label}: ${name}`,
    unit,
    samples,
    ...more,
  });
  return [
    figure('writes a minute while idle, without Leases', '/min', [writesPerMinute], { target: '0' }),
    figure('operator memory while idle', 'MiB', used.operator.memoryMiB, { target: '≤ 600 MB at 10,000' }),
    figure('API memory while idle, per replica', 'MiB', used.api.memoryMiB),
    figure('operator CPU while idle', 'ms/s', used.operator.cpuMsPerSecond),
    figure('API CPU while idle, per replica', 'ms/s', used.api.cpuMsPerSecond),
    figure('one change: requested → in the status', 'ms', noticed.status, {
      baseline: { name: 'requested → seen by a watch', samples: noticed.seen },
    }),
    figure('operator restarted → all reconciled', 's', [restarted.seconds], {
      baseline: { name: 'filling the same caches alone', samples: [cachedSeconds] },
    }),
    figure('one change once the former operator has ended → in the status', 's', [changedSeconds]),
    figure('writes of these reconciles, without pods and Events', '', [restarted.writes], { target: '0' }),
    figure('API replica restarted → ready', 's', [apiSeconds]),
  ];
}

/**
 * Waits until the operator's queues are empty, its workers idle, every repository's refs listed, and no builder
 * is running, in three consecutive checks.
 */
export async function settled(cluster: ObservedCluster): Promise<void> {
  let still = 0;
  await waitFor('the operator to become idle', 600, async () => {
    const [pod = ''] = await cluster.pods('coppice-operator');
    const hasWork = (await cluster.hasBuilders()) || (await cluster.hasNewRepositories());
    still = !hasWork && (await isAtRest(cluster, pod)) ? still + 1 : 0;
    await sleep(1000);
    return still >= 3 ? true : undefined;
  });
}

async function isAtRest(cluster: ObservedCluster, pod: string): Promise<boolean> {
  const page = await cluster.metrics(pod);
  return sumOf(page, 'workqueue_depth') + sumOf(page, 'controller_runtime_active_workers') === 0;
}

/** Returns the seconds to list and cache everything that the operator caches, and nothing else. */
async function fillCaches(client: ClusterClient): Promise<number> {
  const caches = Object.values(operatorCaches(client, BUILDER_NAMESPACE, silentLogger, new RuntimeMetrics()));
  const fill = () =>
    secondsOf(async () => {
      for (const cache of caches) cache.start();
      await Promise.all(caches.map((cache) => cache.whenSynced()));
    });
  return withCleanUp(fill, () => Promise.all(caches.map((cache) => cache.stop())));
}

/** Returns the seconds from the new process's start until Kubernetes routes requests to it. */
async function benchApiRestart(cluster: ObservedCluster): Promise<number> {
  const former = await cluster.pods('coppice-api');
  const [ended = ''] = former;
  await cluster.endPod(ended);
  return waitFor('the new api replica to be ready', 300, async () => {
    const pod = (await cluster.readyPods('coppice-api')).find((one) => !former.includes(one));
    if (pod === undefined) return undefined;
    const now = Date.now() / 1000;
    return now - sumOf(await cluster.metrics(pod), 'process_start_time_seconds');
  });
}

/** Returns the writes a minute while nothing changes, and what the processes of these Deployments use meanwhile. */
export async function benchIdle<Name extends string>(cluster: ObservedCluster, ...deployments: readonly Name[]) {
  const usage = () => Promise.all(deployments.map((name) => cluster.usage(`coppice-${name}`)));
  const [before, usageBefore] = [await cluster.writes(), await usage()];
  await sleep(idleSeconds * 1000);
  const [after, usageAfter] = [await cluster.writes(), await usage()];
  console.log(`writes while idle: ${reportedWrites(before, after)}`);
  const used = deployments.map((name, index) => [name, usedSince(usageBefore[index] ?? [], usageAfter[index] ?? [])]);
  return {
    writesPerMinute: (writesSince(before, after, maybeCoppices) * 60) / idleSeconds,
    used: Object.fromEntries(used) as Record<Name, ReturnType<typeof usedSince>>,
  };
}

/** Returns each process's current memory, and the CPU time that it has used since. */
function usedSince(before: readonly Usage[], now: readonly Usage[]) {
  return {
    memoryMiB: now.map(({ memoryMiB }) => memoryMiB),
    cpuMsPerSecond: now.map(
      ({ cpuSeconds }, index) => ((cpuSeconds - (before[index]?.cpuSeconds ?? Number.NaN)) * 1000) / idleSeconds,
    ),
  };
}

/** Changes one environment's spec at a time; the operator has handled it when the status has the new generation. */
async function benchChanges({ cluster, watch }: Bench, targets: readonly Target[]) {
  const [seen, status]: [number[], number[]] = [[], []];
  for (let change = 0; change < changes; change++) {
    const target = targets[Math.floor((change * targets.length) / changes)];
    if (!target) throw new Error('there is nothing to change');
    const displayName = `change ${change}`;
    const start = performance.now();
    const since = () => performance.now() - start;
    const isSeen = (one: Environment | undefined) => one?.spec.displayName === displayName;
    const isAnswered = (one: Environment | undefined) =>
      isSeen(one) && one?.status?.observedGeneration === one?.metadata.generation;
    await Promise.all([
      watch.until(target, isSeen, 30).then(() => seen.push(since())),
      watch.until(target, isAnswered, 30).then(() => status.push(since())),
      cluster.client.patch(ENVIRONMENT, environmentAt(target), { spec: { displayName } }),
    ]);
  }
  return { seen, status };
}

/**
 * Changes an environment when the former operator has ended, so that the next one finds the change among all others that
 * it reconciles at its start; returns the seconds until the status has the change.
 */
async function benchChangeWhileStarting({ cluster, watch }: Bench, targets: readonly Target[]): Promise<number> {
  const target = targets[Math.floor(targets.length / 2)];
  if (!target) throw new Error('there is nothing to change');
  const [former = ''] = await cluster.pods('coppice-operator');
  await cluster.endPod(former);
  await waitFor('the former operator to end', 60, async () => ((await cluster.hasPod(former)) ? undefined : true));
  const displayName = 'changed while the operator starts';
  const start = performance.now();
  await cluster.client.patch(ENVIRONMENT, environmentAt(target), { spec: { displayName } });
  const isAnswered = (one: Environment | undefined) =>
    one?.spec.displayName === displayName && one.status?.observedGeneration === one.metadata.generation;
  await watch.until(target, isAnswered, 600);
  const seconds = (performance.now() - start) / 1000;
  await settled(cluster);
  return seconds;
}

/** Measures from the new process's start until it has reconciled every environment and its queues are empty. */
async function benchRestart(cluster: ObservedCluster, environments: number) {
  const [former = ''] = await cluster.pods('coppice-operator');
  const before = await cluster.writes();
  await cluster.endPod(former);
  const seconds = await waitFor('the new operator to have reconciled all', 600, async () => {
    const [pod] = await cluster.pods('coppice-operator');
    if (pod === undefined || pod === former) return undefined;
    const page = await cluster.metrics(pod);
    const reconciles = sumOf(page, 'controller_runtime_reconcile_total', { controller: 'environment' });
    if (reconciles < environments || !(await isAtRest(cluster, pod))) return undefined;
    return Date.now() / 1000 - sumOf(page, 'process_start_time_seconds');
  });
  const after = await cluster.writes();
  console.log(`writes of the restart: ${reportedWrites(before, after)}`);
  // Excludes the new pod and its events, which Kubernetes writes.
  const isReconcile = (what: string) => maybeCoppices(what) && !['pods', 'events'].includes(what);
  return { seconds, writes: writesSince(before, after, isReconcile) };
}
