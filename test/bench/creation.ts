import { atOnce } from './at-once.ts';
import { CLIENTS_AT_ONCE, createBare } from './bare-creation.ts';
import { createEnvironment, targetsOf, type BenchGroup, type Target } from './bench-groups.ts';
import { settled, type Bench } from './held.ts';
import { secondsOf, type Figure } from './measure.ts';
import { reportedWrites, writesSince, type Usage } from './observed-cluster.ts';
import { processorTime, timeSince, worksForAnyClient } from './processor-time.ts';
import { environmentObjects } from './raw-copies.ts';

const countEveryMs = 5000;
/** Maximum time per environment, about three times what each of 100 takes on two cores. */
const secondsOfEach = 1;

/**
 * Creates the Environments of the groups with several concurrent requests, and waits until all are built. As baseline,
 * a plain client creates the same objects for some of them, in namespaces that start with `prefix`.
 */
export async function benchCreation(
  bench: Bench,
  groups: readonly BenchGroup[],
  prefix: string,
  label: string,
): Promise<Figure[]> {
  const { client } = bench.cluster;
  const targets = targetsOf(groups);
  await settled(bench.cluster);
  const made = await createAll(bench, targets, label);
  const objects = (await Promise.all(groups.map(({ name }) => environmentObjects(client, name)))).flat();
  const bare = await bench.progress.step('the same objects by a plain client', () =>
    createBare(client, objects, prefix),
  );
  const figure = (name: string, unit: string, samples: number[]): Figure => ({
    name: `${label}: ${name}`,
    unit,
    samples,
  });
  const ofEach = (name: string, unit: string, sum: number) => figure(name, unit, [sum / targets.length]);
  const rate = figure('objects a second', '/s', [objects.length / made.seconds]);
  const rolledOut = 'plain client creates and rolls out';
  return [
    figure('created → all built', 's', [made.seconds]),
    { ...rate, baseline: { name: 'plain client creates', samples: [bare.created] }, target: '≥ 0.5 ×' },
    { ...rate, baseline: { name: rolledOut, samples: [bare.rolledOut] } },
    { ...rate, baseline: { name: 'plain client applies server-side', samples: [bare.applied] } },
    ofEach('objects per environment', '', objects.length),
    ofEach('status writes per environment', '', made.statusWrites),
    ofEach('operator requests per environment', '', made.requests),
    ofEach('operator CPU per environment, without git', 'ms', made.operatorMs),
    figure('operator memory once all are built', 'MiB', memoryOf(made.operator)),
    ofEach('API CPU per environment, all replicas', 'ms', made.apiMs),
    figure('API memory once all are built, per replica', 'MiB', memoryOf(made.api)),
    ...[...made.time].map(([part, ms]) => ({
      ...ofEach(`CPU time per environment, ${part}`, 'ms', ms),
      ...(worksForAnyClient(part) && {
        baseline: { name: 'plain client', samples: [bare.time.get(part) ?? Number.NaN] },
      }),
    })),
  ];
}

/** Creates the Environments, waits until all are built, and returns the total duration. */
async function createAll({ progress, cluster, watch }: Bench, targets: readonly Target[], label: string) {
  const usage = async () => [await cluster.usage('coppice-operator'), await cluster.usage('coppice-api')] as const;
  const before = await cluster.writes();
  const [operatorBefore, apiBefore] = await usage();
  const timeBefore = await processorTime();
  const seconds = await progress.step(`${label} created at once`, (detail) =>
    secondsOf(async () => {
      const converged = watch.allAt('built', targets, Math.max(1800, targets.length * secondsOfEach));
      const count = setInterval(() => detail(`${watch.countAt('built', targets)} built`), countEveryMs);
      const creating = atOnce(CLIENTS_AT_ONCE, targets, (target) => createEnvironment(cluster.client, target));
      await Promise.all([converged, creating]).finally(() => clearInterval(count));
    }),
  );
  const time = timeSince(timeBefore, await processorTime());
  const [operator, api] = await usage();
  const after = await cluster.writes();
  console.log(`writes until all were built: ${reportedWrites(before, after)}`);
  return {
    seconds,
    time,
    operator,
    api,
    statusWrites: writesSince(before, after, (what) => what === 'environments/status'),
    requests: totalOf(operator, requestsOf) - totalOf(operatorBefore, requestsOf),
    operatorMs: totalOf(operator, cpuMs) - totalOf(operatorBefore, cpuMs),
    apiMs: totalOf(api, cpuMs) - totalOf(apiBefore, cpuMs),
  };
}

function totalOf(processes: readonly Usage[], what: (usage: Usage) => number): number {
  return processes.reduce((sum, usage) => sum + what(usage), 0);
}

function requestsOf({ requests }: Usage): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

function cpuMs({ cpuSeconds }: Usage): number {
  return cpuSeconds * 1000;
}

function memoryOf(processes: readonly Usage[]): number[] {
  return processes.map(({ memoryMiB }) => memoryMiB);
}
