import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { LABELS } from '../../crds/labels.ts';
import { keyOf, Namespace } from '../../kubernetes/resource-type.ts';
import type { Progress } from '../support/progress.ts';
import { randomName } from '../end-to-end/harness.ts';
import { atOnce } from './at-once.ts';
import { CLIENTS_AT_ONCE } from './bare-creation.ts';
import { addBenchGroups, addRepository, createEnvironment, environmentAt, targetsOf } from './bench-groups.ts';
import { following } from './following.ts';
import { settled, type Bench } from './held.ts';
import { secondsOf, type Figure } from './measure.ts';
import { reportedWrites, writesSince } from './observed-cluster.ts';
import { processorTime, timeSince, worksForAnyClient } from './processor-time.ts';
import { pushCommits } from './push-commits.ts';
import { byCreate, COPY_LABEL, copyOf, environmentObjects, makeCopies } from './raw-copies.ts';
import { TWO_SERVICES } from './scale.ts';
import { withBench } from './with-bench.ts';

const groupCount = 2;
/** Maximum time per environment, several times what each of 1,000 takes on two cores. */
const secondsOfEach = 5;

/** What a deletion took. */
interface Deleted {
  seconds: number;
  /** Writes at the API server, by whomever. */
  writes: number;
  /** Milliseconds of CPU time by part; empty outside of the local cluster. */
  time: ReadonlyMap<string, number>;
}

/**
 * Returns a part that deletes this many Environments at once until their namespaces are gone. As baseline, as many
 * namespaces with the same objects are deleted, as `kubectl delete namespace` does.
 */
export function benchDeletion(environments: number) {
  return (progress: Progress): Promise<Figure[]> => {
    const prefix = randomName('raw');
    return withBench(progress, prefix, async ({ harness, ...bench }) => {
      const { client } = bench.cluster;
      const sizes = Array.from({ length: groupCount }, (_, index) => Math.ceil((environments - index) / groupCount));
      const groups = await addBenchGroups(harness, sizes);
      for (const group of groups) {
        await pushCommits(group.origin, group.branches, 'compose.yaml', TWO_SERVICES);
        await addRepository(client, group);
      }
      const targets = targetsOf(groups);
      await progress.step(`${environments} environments`, async () => {
        const built = bench.watch.allAt('built', targets, Math.max(300, environments * secondsOfEach));
        const creating = atOnce(CLIENTS_AT_ONCE, targets, (target) => createEnvironment(client, target));
        await Promise.all([built, creating]);
      });
      const objects = (await Promise.all(groups.map(({ name }) => environmentObjects(client, name)))).flat();
      const names = await progress.step('namespaces with the same objects', async () => {
        const copies = objects.map((copy) => copyOf(copy, (namespace) => `${prefix}-${namespace}`.slice(0, 63)));
        await makeCopies(client, copies, CLIENTS_AT_ONCE, byCreate);
        return copies.flatMap(({ type, object }) => (type.kind === 'Namespace' ? [object.metadata.name] : []));
      });
      const limitMs = 1000 * Math.max(300, environments * secondsOfEach);
      const bare = await measure(bench, 'the namespaces deleted', { labelSelector: COPY_LABEL, limitMs }, () =>
        atOnce(CLIENTS_AT_ONCE, names, (name) => client.delete(Namespace, { name })),
      );
      const labelSelector = `${LABELS.group} in (${groups.map(({ name }) => name).join()}),${LABELS.environment}`;
      const own = await measure(bench, 'the environments deleted', { labelSelector, limitMs }, async () => {
        await atOnce(CLIENTS_AT_ONCE, targets, (target) => client.delete(ENVIRONMENT, environmentAt(target)));
        const isGone = (one: Environment | undefined) => one === undefined;
        await Promise.all(targets.map((target) => bench.watch.until(target, isGone, limitMs / 1000)));
      });
      return figuresOf(environments, own, bare);
    });
  };
}

/** Deletes, and measures until the namespaces of the selection are gone. */
async function measure(
  { progress, cluster }: Bench,
  name: string,
  { labelSelector, limitMs: timeoutMs }: { labelSelector: string; limitMs: number },
  remove: () => Promise<void>,
): Promise<Deleted> {
  await progress.step('until nothing is left to do', () => settled(cluster));
  return following(cluster.client, Namespace, { labelSelector }, async (namespaces) => {
    const keys = namespaces.list().map(keyOf);
    const isGone = (one: Namespace | undefined) => one === undefined;
    const [writesBefore, timeBefore] = [await cluster.writes(), await processorTime()];
    const seconds = await progress.step(name, () =>
      secondsOf(() => Promise.all([remove(), ...keys.map((key) => namespaces.waitFor(key, isGone, { timeoutMs }))])),
    );
    const time = timeSince(timeBefore, await processorTime());
    const writes = await cluster.writes();
    console.log(`writes until ${name}: ${reportedWrites(writesBefore, writes)}`);
    return { seconds, time, writes: writesSince(writesBefore, writes) };
  });
}

function figuresOf(environments: number, own: Deleted, bare: Deleted): Figure[] {
  const figure = (name: string, unit: string, of: (deleted: Deleted) => number, target?: string): Figure => ({
    name: `${environments.toLocaleString('en')} environments: ${name}`,
    unit,
    samples: [of(own)],
    baseline: { name: 'namespaces with the same objects', samples: [of(bare)] },
    ...(target !== undefined && { target }),
  });
  return [
    figure('deleted → all gone', 's', ({ seconds }) => seconds, '≤ 1.2 ×'),
    figure('writes at the API server per environment', '', ({ writes }) => writes / environments),
    ...[...own.time.keys()]
      .filter(worksForAnyClient)
      .map((part) =>
        figure(`CPU time per environment, ${part}`, 'ms', ({ time }) => (time.get(part) ?? Number.NaN) / environments),
      ),
    ...[...own.time]
      .filter(([part]) => !worksForAnyClient(part))
      .map(([part, ms]) => ({
        name: `${environments.toLocaleString('en')} environments: CPU time per environment, ${part}`,
        unit: 'ms',
        samples: [ms / environments],
      })),
  ];
}
