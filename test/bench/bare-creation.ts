import type { ClusterClient } from '../../kubernetes/client.ts';
import { Deployment, keyOf } from '../../kubernetes/resource-type.ts';
import { isRolledOut } from '../../operator/services/rollout/rollout.ts';
import { following } from './following.ts';
import { secondsOf } from './measure.ts';
import { processorTime, timeSince } from './processor-time.ts';
import { byApply, byCreate, COPY_LABEL, copyOf, makeCopies, type Copy } from './raw-copies.ts';

/** The operator's number of workers (chart value operator.workers). */
export const CLIENTS_AT_ONCE = 16;
/** The rate of the bare API server is measured with the objects of at most this many environments. */
const maxCopied = 50;
/** Longer than any undisturbed rollout, in milliseconds. */
const timeoutMs = 300_000;

/**
 * Measures a plain client that does nothing else: objects created per second, objects per second until their
 * Deployments are rolled out, and the CPU time per namespace until then.
 */
export async function createBare(client: ClusterClient, objects: readonly Copy[], prefix: string) {
  const namespaces = objects.flatMap(({ type, object }) => (type.kind === 'Namespace' ? [object.metadata.name] : []));
  const copiesOf = (name: string, some: readonly string[]) => {
    const names = new Map(some.map((namespace, index) => [namespace, `${prefix}-${name}-${index}`]));
    return objects
      .filter(({ object: { metadata } }) => names.has(metadata.namespace ?? metadata.name))
      .map((copy) => copyOf(copy, (namespace) => names.get(namespace) ?? prefix));
  };
  const half = Math.min(maxCopied, Math.floor(namespaces.length / 2));
  const [toCreate, toApply] = [namespaces.slice(0, half), namespaces.slice(half, 2 * half)];
  return {
    ...(await createCopies(client, copiesOf('create', toCreate), half)),
    applied: await rateOf(copiesOf('apply', toApply), (copies) => makeCopies(client, copies, CLIENTS_AT_ONCE, byApply)),
  };
}

async function createCopies(client: ClusterClient, copies: readonly Copy[], namespaces: number) {
  const before = await processorTime();
  let created = Number.NaN;
  const rolledOut = await rateOf(copies, async () => {
    created = await rateOf(copies, () => makeCopies(client, copies, CLIENTS_AT_ONCE, byCreate));
    await deploymentsRolledOut(client, copies);
  });
  const time = timeSince(before, await processorTime());
  return { created, rolledOut, time: new Map([...time].map(([part, ms]) => [part, ms / namespaces])) };
}

/** Waits for the Deployments with a watch of only the copies, which starts after all are created. */
async function deploymentsRolledOut(client: ClusterClient, copies: readonly Copy[]): Promise<void> {
  const deployments = copies.filter(({ type }) => type.kind === Deployment.kind);
  const isThere = (one: Deployment | undefined) => one !== undefined && isRolledOut(one);
  await following(client, Deployment, { labelSelector: COPY_LABEL }, (informer) =>
    Promise.all(deployments.map(({ object }) => informer.waitFor(keyOf(object), isThere, { timeoutMs }))),
  );
}

async function rateOf(copies: readonly Copy[], make: (copies: readonly Copy[]) => Promise<unknown>): Promise<number> {
  return copies.length / (await secondsOf(() => make(copies)));
}
