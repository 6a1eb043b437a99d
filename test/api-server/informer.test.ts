import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ClusterClient } from '../../kubernetes/client.ts';
import { Informer, type InformerOptions } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import {
  apiVersionOf,
  compareResourceVersions,
  keyOf,
  objectKey,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import {
  createNamespace,
  createWidgetType,
  deleteNamespace,
  deleteWidgetType,
  eventually,
  randomName,
  testClient,
  testKubeConfig,
  type Widget,
} from './api-server.ts';
import { proxied, type TcpProxy } from './tcp-proxy.ts';

/** Writes go directly to the API server; the informer's client uses the proxy, which fails. */
let client: ClusterClient;
let namespace: string;
let Widgets: ResourceType<Widget>;
let proxy: TcpProxy;
let viaProxy: ClusterClient;
let informer: Informer<Widget> | undefined;
let counts: { listed: number; watched: number; failed: number };

beforeAll(async () => {
  client = testClient();
  [namespace, Widgets] = await Promise.all([createNamespace(client), createWidgetType(client)]);
}, 60_000);

afterAll(async () => {
  await deleteWidgetType(client, Widgets);
  await deleteNamespace(client, namespace);
  client.close();
});

beforeEach(async () => {
  const config = testKubeConfig();
  proxy = await proxied(config);
  viaProxy = new ClusterClient(config);
});

afterEach(async () => {
  await informer?.stop();
  viaProxy.close();
  await proxy.stop();
});

const key = (name: string) => objectKey(namespace, name);
const create = (name: string, size: number) =>
  client.create(Widgets, {
    apiVersion: apiVersionOf(Widgets),
    kind: Widgets.kind,
    metadata: { namespace, name, labels: { size: String(size) } },
    spec: { size },
  });
const resize = (name: string, size: number) => client.patch(Widgets, { namespace, name }, { spec: { size } });
const remove = (name: string) => client.delete(Widgets, { namespace, name });

async function start(options: Partial<InformerOptions<Widget>> = {}): Promise<Informer<Widget>> {
  counts = { listed: 0, watched: 0, failed: 0 };
  informer = new Informer<Widget>({
    name: 'Widget',
    source: listWatch(viaProxy, Widgets, { namespace }),
    logger: silentLogger,
    backoffMs: 50,
    indexes: { size: ({ spec }) => [String(spec?.size)] },
    metrics: {
      listed: () => counts.listed++,
      watched: () => counts.watched++,
      failed: () => counts.failed++,
      handlerFailed: () => undefined,
    },
    ...options,
  });
  informer.start();
  await informer.whenSynced();
  return informer;
}

describe('a connection that fails', () => {
  test('is resumed without a list after it broke, and nothing is missed', async () => {
    const name = randomName('severed');
    const widgets = await start();
    await create(name, 1);
    await widgets.waitFor(key(name), (held) => held !== undefined, { timeoutMs: 5000 });
    proxy.refuse();
    await resize(name, 2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(widgets.get(key(name))?.spec?.size).toBe(1);
    proxy.accept();
    await widgets.waitFor(key(name), (held) => held?.spec?.size === 2, { timeoutMs: 10_000 });
    expect(counts.listed).toBe(1);
    expect(counts.failed).toBeGreaterThan(0);
  });

  test('is replaced by the watchdog when it is silent', async () => {
    const name = randomName('silent');
    const widgets = await start({ silenceMs: 1000 });
    await create(name, 1);
    await widgets.waitFor(key(name), (held) => held !== undefined, { timeoutMs: 5000 });
    proxy.hang();
    await resize(name, 2);
    await widgets.waitFor(key(name), (held) => held?.spec?.size === 2, { timeoutMs: 10_000 });
    expect(counts.listed).toBe(1);
  });

  test('reports changes and deletions in between after 410 Gone', async () => {
    const [stays, goes, comes] = [randomName('stays'), randomName('goes'), randomName('comes')];
    await Promise.all([create(stays, 1), create(goes, 1)]);
    const source = listWatch(viaProxy, Widgets, { namespace });
    let forgets = false;
    const widgets = await start({
      source: {
        list(options) {
          forgets = false;
          return source.list(options);
        },
        watch: (options) => source.watch({ ...options, resourceVersion: forgets ? '1' : options.resourceVersion }),
      },
    });
    const reported: string[] = [];
    widgets.addHandler((type, { metadata }) => reported.push(`${type} ${metadata.name}`));
    reported.length = 0;
    // Each later attempt to connect is answered with 410, also one that is under way when connections are accepted again.
    forgets = true;
    proxy.refuse();
    await Promise.all([remove(goes), create(comes, 1), resize(stays, 2)]);
    proxy.accept();
    await widgets.waitFor(key(goes), (held) => held === undefined, { timeoutMs: 10_000 });
    await widgets.waitFor(key(comes), (held) => held !== undefined, { timeoutMs: 10_000 });
    expect(counts.listed).toBe(2);
    expect(reported.sort()).toEqual([`added ${comes}`, `deleted ${goes}`, `updated ${stays}`].sort());
  });

  test('leaves no open connection after stop', async () => {
    const widgets = await start();
    await widgets.stop();
    viaProxy.close();
    await eventually(() => expect(proxy.open).toBe(0), 'all connections are closed');
  });
});

test('agrees with the cluster with many writers and a network that breaks repeatedly', async () => {
  const prefix = randomName('busy');
  const widgets = await start({ silenceMs: 1000 });
  const byEvents = new Map<string, string | undefined>();
  const versions = new Map<string, string | undefined>();
  const wentBack: string[] = [];
  widgets.addHandler((type, object) => {
    const { name, resourceVersion } = object.metadata;
    if (compareResourceVersions(resourceVersion, versions.get(name)) < 0) wentBack.push(name);
    versions.set(name, resourceVersion);
    if (type === 'deleted') byEvents.delete(keyOf(object));
    else byEvents.set(keyOf(object), resourceVersion);
  });
  const writing = new AbortController();
  const breaking = (async () => {
    for (let round = 0; !writing.signal.aborted; round++) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      if (round % 3 === 2) proxy.hang();
      else proxy.cut();
    }
  })();
  const writer = async (of: number) => {
    for (let step = 0; step < 12; step++) {
      const name = `${prefix}-${of}-${step}`;
      await create(name, 1);
      // Half of the writes are passed to the informer by the writer itself, as in a reconcile.
      const resized = await resize(name, 2);
      if (step % 2 === 0) {
        widgets.observe(resized);
        expect(compareResourceVersions(widgets.get(key(name))?.metadata.resourceVersion, undefined)).toBe(1);
      }
      if (step % 3 === 0) await remove(name);
      else await resize(name, 3);
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5].map(writer));
  writing.abort();
  await breaking;
  const last = randomName(prefix);
  await create(last, 7);
  await widgets.waitFor(key(last), (held) => held !== undefined, { timeoutMs: 20_000 });

  const { items } = await client.list(Widgets, { namespace });
  const real = new Map(items.map((item) => [keyOf(item), item.metadata.resourceVersion]));
  const held = new Map(widgets.list().map((item) => [keyOf(item), item.metadata.resourceVersion]));
  expect(items.length).toBeGreaterThan(48);
  expect(held).toEqual(real);
  expect(byEvents).toEqual(real);
  expect(wentBack).toEqual([]);
  expect(widgets.byIndex('size', '7').map(keyOf)).toEqual([key(last)]);
}, 60_000);

test('shows an observed write before its event, and does not undo a reported deletion', async () => {
  const name = randomName('observed');
  const widgets = await start();
  widgets.observe(await create(name, 1));
  expect(widgets.get(key(name))?.spec?.size).toBe(1);
  const resized = await resize(name, 2);
  widgets.observe(resized);
  expect(widgets.get(key(name))?.spec?.size).toBe(2);
  await remove(name);
  await widgets.waitFor(key(name), (held) => held === undefined, { timeoutMs: 5000 });
  widgets.observe(resized);
  expect(widgets.get(key(name))).toBeUndefined();
});
