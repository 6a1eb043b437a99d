import type { ClusterClient } from '../../kubernetes/client.ts';
import { DeploymentWatch } from './deployment-watch.ts';
import { secondsOf } from './measure.ts';
import { processorTime, timeSince } from './processor-time.ts';
import { byApply, byCreate, copyOf, makeCopies, type Copy } from './raw-copies.ts';

/** As many as the operator has workers (chart value operator.workers). */
export const clientsAtOnce = 16;
/** What the bare API server takes is told by the objects of so many. */
const mostCopied = 50;

/**
 * Objects a second of a plain client that does nothing else: what the API server takes, and what there is once the
 * Deployments of it are rolled out; and what time of processors each namespace of it takes until then.
 */
export async function createBare(client: ClusterClient, objects: readonly Copy[], prefix: string) {
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
    const time = timeSince(before, await processorTime());
    return { created, rolledOut, time: new Map([...time].map(([part, ms]) => [part, ms / namespaces])) };
  });
}

async function rateOf(copies: readonly Copy[], make: (copies: readonly Copy[]) => Promise<unknown>): Promise<number> {
  return copies.length / (await secondsOf(() => make(copies)));
}
