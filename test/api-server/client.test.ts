import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  isAlreadyExists,
  isConflict,
  isGone,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
} from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { ConfigMap, Deployment, Pod, apiVersionOf, type ResourceType } from '../../kubernetes/resource-type.ts';
import {
  createNamespace,
  createWidgetType,
  deleteNamespace,
  deleteWidgetType,
  testClient,
  type Widget,
} from './api-server.ts';

let client: ClusterClient;
let namespace: string;
let Widgets: ResourceType<Widget>;

beforeAll(async () => {
  client = testClient();
  [namespace, Widgets] = await Promise.all([createNamespace(client), createWidgetType(client)]);
}, 60_000);

afterAll(async () => {
  await deleteWidgetType(client, Widgets);
  await deleteNamespace(client, namespace);
  client.close();
});

const errorOf = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: unknown) => error);
const widget = (name: string, spec?: Widget['spec'], labels?: Record<string, string>): Widget => ({
  apiVersion: apiVersionOf(Widgets),
  kind: Widgets.kind,
  metadata: { namespace, name, ...(labels && { labels }) },
  ...(spec && { spec }),
});
const at = (name: string) => ({ namespace, name });

describe('create, get, list, delete', () => {
  test('returns an object as it was created', async () => {
    const created = await client.create(Widgets, widget('plain', { size: 3 }));
    expect(created.metadata.uid).toBeDefined();
    expect(await client.get(Widgets, at('plain'))).toEqual(created);
    expect(isAlreadyExists(await errorOf(client.create(Widgets, widget('plain'))))).toBe(true);
  });

  test('reports a missing object', async () => {
    expect(isNotFound(await errorOf(client.get(Widgets, at('nothing'))))).toBe(true);
    expect(await client.find(Widgets, at('nothing'))).toBeUndefined();
    expect(isNotFound(await errorOf(client.delete(Widgets, at('nothing'))))).toBe(true);
  });

  test('names the field that the schema refuses', async () => {
    const error = await errorOf(client.create(Widgets, widget('bad', { size: 0 })));
    expect(isInvalid(error)).toBe(true);
    expect(error).toMatchObject({ code: 422, details: { causes: [{ field: 'spec.size' }] } });
  });

  test('lists by label, in pages, with apiVersion and kind', async () => {
    const names = ['list-0', 'list-1', 'list-2', 'list-3', 'list-4'];
    for (const name of names) {
      const object: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name, labels: { listed: 'yes' } },
      };
      await client.create(ConfigMap, object);
    }
    const selection = { namespace, labelSelector: 'listed=yes' };
    const all = await client.list(ConfigMap, selection);
    expect(all.items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(all.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(all.continue).toBeUndefined();

    const first = await client.list(ConfigMap, { ...selection, limit: 2 });
    expect(first.items).toHaveLength(2);
    const second = await client.list(ConfigMap, { ...selection, limit: 3, continue: first.continue });
    expect([...first.items, ...second.items]).toEqual(all.items);
    expect(second.continue).toBeUndefined();
  });

  test('checks preconditions of a deletion', async () => {
    const { metadata } = await client.create(Widgets, widget('precious'));
    const other = '00000000-0000-0000-0000-000000000000';
    expect(isConflict(await errorOf(client.delete(Widgets, at('precious'), { uid: other })))).toBe(true);
    expect(isConflict(await errorOf(client.delete(Widgets, at('precious'), { resourceVersion: '1' })))).toBe(true);
    await client.delete(Widgets, at('precious'), { uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    expect(await client.find(Widgets, at('precious'))).toBeUndefined();
  });

  test('waits for finalizers after a deletion', async () => {
    const held = widget('held');
    held.metadata.finalizers = ['example.org/hold'];
    await client.create(Widgets, held);
    await client.delete(Widgets, at('held'));
    expect((await client.get(Widgets, at('held'))).metadata.deletionTimestamp).toBeDefined();
    await client.patch(Widgets, at('held'), { metadata: { finalizers: null } });
    expect(await client.find(Widgets, at('held'))).toBeUndefined();
  });

  test('creates nothing in a namespace that is being deleted', async () => {
    const ending = await createNamespace(client);
    const held: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: ending, name: 'held', finalizers: ['example.org/hold'] },
    };
    await client.create(ConfigMap, held);
    await deleteNamespace(client, ending);
    const late = { ...held, metadata: { namespace: ending, name: 'late' } };
    expect(isNamespaceTerminating(await errorOf(client.create(ConfigMap, late)))).toBe(true);
    await client.patch(ConfigMap, { namespace: ending, name: 'held' }, { metadata: { finalizers: null } });
  });
});

describe('patch', () => {
  test('changes what it names, removes by null, and checks the resource version', async () => {
    const before = await client.create(Widgets, widget('patched', { size: 1, color: 'red' }));
    const { resourceVersion } = before.metadata;
    const after = await client.patch(Widgets, at('patched'), { spec: { size: 2, color: null } }, { resourceVersion });
    expect(after.spec).toEqual({ size: 2 });
    const late = client.patch(Widgets, at('patched'), { spec: { size: 3 } }, { resourceVersion });
    expect(isConflict(await errorOf(late))).toBe(true);
    expect((await client.get(Widgets, at('patched'))).spec).toEqual({ size: 2 });
  });
});

describe('status', () => {
  test('is written separately from the spec', async () => {
    await client.create(Widgets, { ...widget('status', { size: 1 }), status: { state: 'ignored' } });
    expect((await client.get(Widgets, at('status'))).status).toBeUndefined();
    const patch = { spec: { size: 9 }, status: { state: 'ready', seen: 1 } };
    const patched = await client.patchStatus(Widgets, at('status'), patch);
    expect([patched.spec, patched.status]).toEqual([{ size: 1 }, { state: 'ready', seen: 1 }]);
    const { resourceVersion } = patched.metadata;
    await client.patchStatus(Widgets, at('status'), { status: { seen: 2 } }, { resourceVersion });
    const late = client.patchStatus(Widgets, at('status'), { status: { seen: 3 } }, { resourceVersion });
    expect(isConflict(await errorOf(late))).toBe(true);
  });

  test('gets no new version from a write that changes nothing', async () => {
    await client.create(Widgets, widget('steady'));
    const first = await client.patchStatus(Widgets, at('steady'), { status: { state: 'ready' } });
    const second = await client.patchStatus(Widgets, at('steady'), { status: { state: 'ready' } });
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('loses what is no longer named when it is applied', async () => {
    await client.create(Widgets, widget('applied-status', { size: 1 }));
    const fieldManager = 'operator';
    const apply = (status: Widget['status']) =>
      client.applyStatus(Widgets, { ...widget('applied-status'), ...(status && { status }) }, { fieldManager });
    await apply({ state: 'ready', seen: 4 });
    const after = await apply({ state: 'ready' });
    expect([after.spec, after.status]).toEqual([{ size: 1 }, { state: 'ready' }]);
  });
});

describe('apply', () => {
  const fieldManager = 'one';

  test('creates, changes, and removes what is no longer named, and keeps fields of others', async () => {
    const applied = await client.apply(Widgets, widget('applied', { size: 1, color: 'red' }), { fieldManager });
    expect(applied.spec).toEqual({ size: 1, color: 'red' });
    await client.patch(Widgets, at('applied'), { metadata: { labels: { other: 'yes' } } });
    const after = await client.apply(Widgets, widget('applied', { size: 2 }), { fieldManager });
    expect(after.spec).toEqual({ size: 2 });
    expect(after.metadata.labels).toEqual({ other: 'yes' });
  });

  test("conflicts with another manager's field, unless forced", async () => {
    await client.apply(Widgets, widget('fought', { size: 1 }), { fieldManager });
    const other = { fieldManager: 'two' };
    const error = await errorOf(client.apply(Widgets, widget('fought', { size: 2 }), other));
    expect(isConflict(error)).toBe(true);
    const forced = await client.apply(Widgets, widget('fought', { size: 2 }), { ...other, force: true });
    expect(forced.spec).toEqual({ size: 2 });
  });
});

describe('watch', () => {
  test('reports changes after a version, until it is aborted', async () => {
    const { resourceVersion } = await client.list(Widgets, { namespace });
    const aborting = new AbortController();
    const seen: string[] = [];
    const watching = (async () => {
      const options = { namespace, resourceVersion, timeoutSeconds: 60, signal: aborting.signal };
      for await (const { type, object } of client.watch(Widgets, options)) {
        if (type === 'BOOKMARK') continue;
        seen.push(`${type} ${object.metadata.name}`);
        if (type === 'DELETED') aborting.abort();
      }
    })();
    await client.create(Widgets, widget('watched'));
    await client.patch(Widgets, at('watched'), { spec: { size: 5 } });
    await client.delete(Widgets, at('watched'));
    await watching;
    expect(seen).toEqual(['ADDED watched', 'MODIFIED watched', 'DELETED watched']);
  });

  test('ends after its time', async () => {
    const { resourceVersion } = await client.list(Widgets, { namespace });
    const started = Date.now();
    const watch = client.watch(Widgets, { namespace, resourceVersion, timeoutSeconds: 1 });
    for await (const { type } of watch) expect(type).toBe('BOOKMARK');
    expect(Date.now() - started).toBeGreaterThan(900);
  });

  test('fails from a version that the API server no longer has', async () => {
    const read = async () => {
      for await (const event of client.watch(Widgets, { namespace, resourceVersion: '1', timeoutSeconds: 60 })) {
        throw new Error(`did not expect ${event.type}`);
      }
    };
    expect(isGone(await errorOf(read()))).toBe(true);
  });
});

test('match what the API server sends for built-in kinds', async () => {
  const labels = { app: 'web' };
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  };
  const applied = await client.apply(Deployment, deployment, { fieldManager: 'one' });
  expect(applied.spec?.replicas).toBe(1);
  expect(applied.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test('reports that the API server is ready', async () => {
  expect(await client.isReady()).toBe(true);
});

/** Every kind cluster and every kubeadm one runs its API server as a pod; a bare API server has no pods. */
const [running] = (await testClient().list(Pod, { namespace: 'kube-system' })).items.filter(
  ({ status }) => status?.phase === 'Running',
);
(running ? describe : describe.skip)('pod log', () => {
  const pod = { namespace: running?.metadata.namespace, name: running?.metadata.name ?? '' };
  const container = running?.spec?.containers[0]?.name;

  test('is returned in lines with their times, and from a time on', async () => {
    const lines: string[] = [];
    for await (const line of client.podLog(pod, { container, timestamps: true })) lines.push(line);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d) /);
    const sinceTime = new Date(Date.now() + 3_600_000).toISOString();
    for await (const line of client.podLog(pod, { container, sinceTime })) throw new Error(`did not expect ${line}`);
  });

  test('continues until it is aborted if it is followed', async () => {
    const started = Date.now();
    let lines = 0;
    const signal = AbortSignal.timeout(1500);
    for await (const line of client.podLog(pod, { container, follow: true, signal })) lines += Number(line.length >= 0);
    expect(lines).toBeGreaterThan(0);
    expect(Date.now() - started).toBeGreaterThan(1400);
  });

  test('of a missing container is refused', async () => {
    const read = async () => {
      for await (const line of client.podLog(pod, { container: 'nothing' })) throw new Error(line);
    };
    expect(isInvalid(await errorOf(read()))).toBe(true);
  });
});
