import { atOnce } from './at-once.ts';
import { clientsAtOnce, createBare } from './bare-creation.ts';
import { createEnvironment, placesOf, type BenchGroup, type Place } from './bench-groups.ts';
import { settled, type Bench } from './held.ts';
import { secondsOf, type Figure } from './measure.ts';
import { toldWrites, writesSince, type Usage } from './observed-cluster.ts';
import { processorTime, timeSince, worksForAnyClient } from './processor-time.ts';
import { environmentObjects } from './raw-copies.ts';

const countEveryMs = 5000;
/** At most; a third of it is what 100 take on two processors. */
const secondsOfEach = 1;

/**
 * Creates the Environments of the groups, so many requests at a time, until all are built; beside it a plain client makes
 * the same objects of some of them, in namespaces that begin with `prefix`.
 */
export async function benchCreation(
  bench: Bench,
  groups: readonly BenchGroup[],
  prefix: string,
  told: string,
): Promise<Figure[]> {
  const { client } = bench.cluster;
  const places = placesOf(groups);
  await settled(bench.cluster);
  const made = await createAll(bench, places, told);
  const objects = (await Promise.all(groups.map(({ name }) => environmentObjects(client, name)))).flat();
  const bare = await bench.progress.step('the same objects by a plain client', () =>
    createBare(client, objects, prefix),
  );
  const figure = (name: string, unit: string, samples: number[]): Figure => ({
    name: `${told}: ${name}`,
    unit,
    samples,
  });
  const ofEach = (name: string, unit: string, sum: number) => figure(name, unit, [sum / places.length]);
  const rate = figure('objects a second', '/s', [objects.length / made.seconds]);
  const rolledOut = 'a plain client creates, until its Deployments are rolled out';
  return [
    figure('created → all built', 's', [made.seconds]),
    { ...rate, baseline: { name: 'a plain client creates', samples: [bare.created] }, target: '≥ 0.5 ×' },
    { ...rate, baseline: { name: rolledOut, samples: [bare.rolledOut] } },
    { ...rate, baseline: { name: 'a plain client applies server-side', samples: [bare.applied] } },
    ofEach('objects of each', '', objects.length),
    ofEach('status writes of each', '', made.statusWrites),
    ofEach("the operator's requests for each", '', made.requests),
    ofEach("operator's CPU of each, its gits apart", 'ms', made.operatorMs),
    figure("operator's memory, once all are built", 'MiB', memoryOf(made.operator)),
    ofEach("the api's CPU of each, by its watches, all replicas", 'ms', made.apiMs),
    figure("the api's memory, once all are built, each replica", 'MiB', memoryOf(made.api)),
    ...[...made.time].map(([part, ms]) => ({
      ...ofEach(`processors' time of each, ${part}`, 'ms', ms),
      ...(worksForAnyClient(part) && {
        baseline: { name: 'made by the plain client', samples: [bare.time.get(part) ?? Number.NaN] },
      }),
    })),
  ];
}

/** Creates an Environment at each place, and waits until all are built. What it took, of all together. */
async function createAll({ progress, cluster, watch }: Bench, places: readonly Place[], told: string) {
  const usage = async () => [await cluster.usage('coppice-operator'), await cluster.usage('coppice-api')] as const;
  const before = await cluster.writes();
  const [operatorBefore, apiBefore] = await usage();
  const timeBefore = await processorTime();
  const seconds = await progress.step(`${told} created at once`, (detail) =>
    secondsOf(async () => {
      const converged = watch.allAt('built', places, Math.max(1800, places.length * secondsOfEach));
      const count = setInterval(() => detail(`${watch.countAt('built', places)} built`), countEveryMs);
      const creating = atOnce(clientsAtOnce, places, (place) => createEnvironment(cluster.client, place));
      await Promise.all([converged, creating]).finally(() => clearInterval(count));
    }),
  );
  const time = timeSince(timeBefore, await processorTime());
  const [operator, api] = await usage();
  const after = await cluster.writes();
  console.log(`writes until all were built: ${toldWrites(before, after)}`);
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
