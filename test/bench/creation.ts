import type { ClusterClient } from '../../kubernetes/client.ts';
import { atOnce } from './at-once.ts';
import { DeploymentWatch } from './deployment-watch.ts';
import { createEnvironment, placesOf, type BenchGroup } from './bench-groups.ts';
import { settled, type Bench } from './held.ts';
import { secondsOf, type Figure } from './measure.ts';
import { toldWrites, writesSince, type Usage } from './observed-cluster.ts';
import { processorTime, type ProcessorTime } from './processor-time.ts';
import { byApply, byCreate, copyOf, environmentObjects, makeCopies, type Copy } from './raw-copies.ts';

/** As many as the operator has workers (chart value operator.workers). */
const clientsAtOnce = 16;
/** What the bare API server takes is told by the objects of so many. */
const mostCopied = 50;

const countEveryMs = 5000;
/** At most; a third of it is what 100 take on two processors. */
const secondsOfEach = 1;

/**
 * Creates the Environments of the groups, so many requests at a time, until all are built; beside it a plain client makes
 * the same objects of some of them, in namespaces that begin with `prefix`.
 */
export async function benchCreation(
  { progress, cluster, watch }: Bench,
  groups: readonly BenchGroup[],
  prefix: string,
  told: string,
): Promise<Figure[]> {
  const { client } = cluster;
  const places = placesOf(groups);
  await settled(cluster);
  const before = await cluster.writes();
  const [usedBefore] = await cluster.usage('coppice-operator');
  const apiBefore = await cluster.usage('coppice-api');
  const timeBefore = await processorTime();
  const seconds = await progress.step(`${told} created at once`, (detail) =>
    secondsOf(async () => {
      const converged = watch.allAt('built', places, Math.max(1800, places.length * secondsOfEach));
      const count = setInterval(() => detail(`${watch.countAt('built', places)} built`), countEveryMs);
      const creating = atOnce(clientsAtOnce, places, (place) => createEnvironment(client, place));
      await Promise.all([converged, creating]).finally(() => clearInterval(count));
    }),
  );
  const time = timeSince(timeBefore, await processorTime(), places.length);
  const [used] = await cluster.usage('coppice-operator');
  const api = await cluster.usage('coppice-api');
  const after = await cluster.writes();
  console.log(`writes until all were built: ${toldWrites(before, after)}`);
  const requests = Object.entries(used?.requests ?? {}).map(
    ([method, count]) => [method, count - (usedBefore?.requests[method] ?? 0)] as const,
  );
  console.log(`the operator's requests: ${requests.map((one) => one.join(' ')).join(', ')}`);
  const objects = (await Promise.all(groups.map(({ name }) => environmentObjects(client, name)))).flat();
  const bare = await progress.step('the same objects by a plain client', () => benchBare(client, objects, prefix));
  const perEnvironment = (count: number) => [count / places.length];
  const cpuSeconds = (used?.cpuSeconds ?? Number.NaN) - (usedBefore?.cpuSeconds ?? Number.NaN);
  const statusWrites = writesSince(before, after, (what) => what === 'environments/status');
  const figure = (name: string, unit: string, samples: number[]): Figure => ({
    name: `${told}: ${name}`,
    unit,
    samples,
  });
  return [
    figure('created → all built', 's', [seconds]),
    {
      ...figure('objects a second', '/s', [objects.length / seconds]),
      baseline: { name: 'a plain client creates', samples: [bare.created] },
      target: '≥ 0.5 ×',
    },
    {
      ...figure('objects a second', '/s', [objects.length / seconds]),
      baseline: { name: 'a plain client creates, until its Deployments are rolled out', samples: [bare.rolledOut] },
    },
    {
      ...figure('objects a second', '/s', [objects.length / seconds]),
      baseline: { name: 'a plain client applies server-side', samples: [bare.applied] },
    },
    figure('objects of each', '', perEnvironment(objects.length)),
    figure('status writes of each', '', perEnvironment(statusWrites)),
    figure("the operator's requests for each", '', perEnvironment(requests.reduce((sum, [, count]) => sum + count, 0))),
    figure("operator's CPU of each, its gits apart", 'ms', perEnvironment(cpuSeconds * 1000)),
    figure("operator's memory, all being built", 'MiB', [used?.memoryMiB ?? Number.NaN]),
    figure(
      "the api's CPU of each, by its watches, all replicas",
      'ms',
      perEnvironment(cpuOf(api) * 1000 - cpuOf(apiBefore) * 1000),
    ),
    figure(
      "the api's memory, all being built, each replica",
      'MiB',
      api.map(({ memoryMiB }) => memoryMiB),
    ),
    ...[...time].map(([part, ms]) => ({
      ...figure(`processors' time of each, ${part}`, 'ms', [ms]),
      baseline: { name: 'made by the plain client', samples: [bare.time.get(part) ?? Number.NaN] },
    })),
  ];
}

/** In milliseconds, by part, for each of so many. */
function timeSince(before: ProcessorTime, after: ProcessorTime, count: number): ReadonlyMap<string, number> {
  return new Map([...after].map(([part, now]) => [part, ((now - (before.get(part) ?? 0)) * 1000) / count]));
}

function cpuOf(processes: readonly Usage[]): number {
  return processes.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

/**
 * Objects a second of a plain client that does nothing else: what the API server takes, and what there is once the
 * Deployments of it are rolled out; and what time of processors each namespace of it takes until then.
 */
async function benchBare(client: ClusterClient, objects: readonly Copy[], prefix: string) {
  const namespaces = objects.flatMap(({ type, object }) => (type.kind === 'Namespace' ? [object.metadata.name] : []));
  const copiesOf = (name: string, some: readonly string[]) => {
    const names = new Map(some.map((namespace, index) => [namespace, `${prefix}-${name}-${index}`]));
    return objects
      .filter(({ object: { metadata } }) => names.has(metadata.namespace ?? metadata.name))
      .map((copy) => copyOf(copy, (namespace) => names.get(namespace) ?? prefix));
  };
  const half = Math.min(mostCopied, Math.floor(namespaces.length / 2));
  const [toCreate, toApply] = [namespaces.slice(0, half), namespaces.slice(half, 2 * half)];
  return {
    ...(await createCopies(client, copiesOf('create', toCreate), half)),
    applied: await rateOf(copiesOf('apply', toApply), (copies) => makeCopies(client, copies, clientsAtOnce, byApply)),
  };
}

async function createCopies(client: ClusterClient, copies: readonly Copy[], namespaces: number) {
  return DeploymentWatch.during(client, async (deployments) => {
    const before = await processorTime();
    let created = Number.NaN;
    const rolledOut = await rateOf(copies, async () => {
      created = await rateOf(copies, () => makeCopies(client, copies, clientsAtOnce, byCreate));
      await deployments.rolledOut(copies.flatMap(({ type, object }) => (type.kind === 'Deployment' ? [object] : [])));
    });
    return { created, rolledOut, time: timeSince(before, await processorTime(), namespaces) };
  });
}

async function rateOf(copies: readonly Copy[], make: (copies: readonly Copy[]) => Promise<unknown>): Promise<number> {
  return copies.length / (await secondsOf(() => make(copies)));
}
