import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LABELS } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { EventRecorder } from '../../kubernetes/event-recorder.ts';
import { CoreEvent, Job, Namespace, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { environmentNamespaceObject } from '../../operator/services/isolation/isolation-objects.ts';
import { ownedLabels } from '../../operator/kinds/environment/scope/owned-labels.ts';
import { OrphanSweeper } from '../../operator/kinds/orphans/sweeper.ts';
import { createNamespace, deleteNamespace, randomName, testClient, unlessNotFound } from './api-server.ts';

const minute = 60_000;
const name = randomName('shop');
const orphaned = `env-${name}--orphans-test`;

let client: ClusterClient;
let namespace: string;

beforeAll(async () => {
  client = testClient();
  namespace = await createNamespace(client);
});

afterAll(async () => {
  await deleteNamespace(client, namespace);
  await deleteNamespace(client, orphaned);
  client.close();
});

function jobOf(labels: Record<string, string>): Job {
  const container = { name: 'c', image: 'none.invalid/none:1' };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name: 'build-1', labels },
    spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [container] } } },
  };
}

test('removes a namespace and a Job without an Environment after some minutes, and nothing else', async () => {
  const uid = 'd5d86d4e-5a4c-4b3e-9f0b-0a1b2c3d4e5f';
  // These labels hide it from the operator of this cluster, if there is one.
  const labels = { ...ownedLabels({ group: 'orphans-test', name, uid }), [LABELS.managedBy]: 'test' };
  const lost = await client.create(Namespace, environmentNamespaceObject(orphaned, labels, uid));
  const job = await client.create(Job, jobOf(labels));
  const theirs = await client.get(Namespace, { name: namespace });
  let now = 0;
  const counts: number[] = [];
  const sweeper = new OrphanSweeper({
    client: { find: () => Promise.resolve(undefined), delete: (...args) => client.delete(...args) },
    observe: () => ({ environments: [], groups: [], namespaces: [lost, theirs], jobs: [job], builderSecrets: [] }),
    count: (orphans) => void counts.push(orphans.length),
    now: () => new Date(now),
    logger: silentLogger,
  });
  for (; now < 5 * minute; now += minute) expect(await sweeper.sweep()).toEqual([]);
  expect(await isGoing(Namespace, { name: orphaned })).toBe(false);
  const removed = await sweeper.sweep();
  expect(removed.map(({ kind, object }) => `${kind} ${object.metadata.name}`)).toEqual([
    `Namespace ${orphaned}`,
    'Job build-1',
  ]);
  expect(counts).toEqual([2, 2, 2, 2, 2, 2]);
  expect(await isGoing(Namespace, { name: orphaned })).toBe(true);
  expect(await isGoing(Job, { namespace, name: 'build-1' })).toBe(true);
  expect(await isGoing(Namespace, { name: namespace })).toBe(false);
});

test('does not remove another object of the same name', async () => {
  const uid = 'a0a0a0a0-5a4c-4b3e-9f0b-0a1b2c3d4e5f';
  const labels = { ...ownedLabels({ group: 'orphans-test', name, uid }), [LABELS.managedBy]: 'test' };
  const at = { namespace, name: 'build-2' };
  const made = await client.create(Job, { ...jobOf(labels), metadata: { ...at, labels } });
  const former = { ...made, metadata: { ...made.metadata, uid: 'b1b1b1b1-5a4c-4b3e-9f0b-0a1b2c3d4e5f' } };
  let now = 0;
  const sweeper = new OrphanSweeper({
    client: { find: () => Promise.resolve(undefined), delete: (...args) => client.delete(...args) },
    observe: () => ({ environments: [], groups: [], namespaces: [], jobs: [former], builderSecrets: [] }),
    count: () => undefined,
    now: () => new Date(now),
    logger: silentLogger,
  });
  await sweeper.sweep();
  now = 6 * minute;
  expect(await sweeper.sweep()).toEqual([]);
  expect(await isGoing(Job, at)).toBe(false);
});

test('writes Events that the API server accepts, and counts repetitions', async () => {
  const recorder = new EventRecorder({
    client,
    controller: 'coppice.dev/operator',
    instance: 'operator-1',
    flowOf: () => ({ tenant: 'group acme', group: 'acme', host: 'acme' }),
    logger: silentLogger,
  });
  const regarding: KubernetesObject = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { namespace, name: 'shop-main', uid: 'u1' },
  };
  const long = 'ä'.repeat(2000);
  for (const note of ['one', 'two', 'one', long]) recorder.record(regarding, { type: 'Warning', reason: 'Test', note });
  await recorder.stop();
  const { items } = await client.list(CoreEvent, { namespace, fieldSelector: 'involvedObject.uid=u1' });
  const reported = items.map(({ message, count }) => [message?.slice(0, 10), count]);
  expect(reported).toEqual([
    ['one', 2],
    ['two', 1],
    ['ä'.repeat(10), 1],
  ]);
});

async function isGoing(type: typeof Namespace | typeof Job, at: { namespace?: string; name: string }) {
  const found = await client.find<KubernetesObject>(type, at).catch(unlessNotFound);
  return found === undefined || found.metadata.deletionTimestamp !== undefined;
}
