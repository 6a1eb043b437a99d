import { describe, expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { OperatorCaches } from './caches.ts';
import { isInTransition, watchForEnvironments } from './environment.ts';
import { watchForGroups } from './group.ts';
import { watchForRepositories } from './repository.ts';
import { isStatusOnly } from '../shared/watch-filters.ts';

const object = (metadata: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', uid: 'u', generation: 1, annotations: { a: '1' }, ...metadata },
});

test.each([
  ['a new object', object({}), undefined, false],
  ['a status', object({ resourceVersion: '2' }), object({ resourceVersion: '1' }), true],
  ['a spec', object({ generation: 2 }), object({}), false],
  ['a request', object({ annotations: { a: '2' } }), object({}), false],
  ['a deletion', object({ deletionTimestamp: 'now' }), object({}), false],
  ['a finalizer', object({ finalizers: ['x'] }), object({}), false],
  ['another object of the name', object({ uid: 'v' }), object({}), false],
])('%s', (_what, changed, old, expected) => {
  expect(isStatusOnly(changed, old)).toBe(expected);
});

const repository = (metadata: object) => object({ name: 'shop', namespace: 'group-acme', ...metadata });
const environment = {
  ...object({ name: 'shop-main', namespace: 'group-acme' }),
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' } },
};

const watchEnvironments = (caches: OperatorCaches, controller: Pick<Controller, 'enqueue' | 'enqueueAfter'>) =>
  watchForEnvironments(caches, controller, () => new Date(0));

const going = { deletionTimestamp: 'now' };

/** Returns what a change requeues when the Group `acme`, its Repository `acme.shop` and an Environment of it exist. */
function wokenBy(
  kind: 'repositories' | 'environments' | 'reusables',
  type: 'updated' | 'deleted',
  changed: KubernetesObject,
  held: KubernetesObject | undefined,
  group: KubernetesObject = object({ name: 'acme' }),
): string[] {
  const keys: string[] = [];
  const handlers: [string, (type: string, object: KubernetesObject, old?: KubernetesObject) => void][] = [];
  const caches = new Proxy({} as OperatorCaches, {
    get: (_target, name: string) => ({
      addHandler: (handler: never) => handlers.push([name, handler]),
      get: (key: string) => (name === 'groups' && key === 'acme' ? group : name === 'repositories' ? held : undefined),
      byIndex: (index: string, value: string) =>
        name === 'environments' && index === 'repository' && value === 'group-acme/shop' ? [environment] : [],
    }),
  });
  const controller = { enqueue: (key: string) => keys.push(key), enqueueAfter: (key: string) => keys.push(key) };
  for (const watch of [watchForRepositories, watchForGroups, watchEnvironments]) watch(caches, controller);
  const old = type === 'updated' ? repository({}) : undefined;
  for (const [name, handle] of handlers) if (name === kind) handle(type, changed, old);
  return keys;
}

describe('a change of a Repository requeues its Environments', () => {
  test.each([
    ['by its spec', repository({ generation: 2 }), ['group-acme/shop', 'group-acme/shop-main']],
    ['by being another one', repository({ uid: 'v' }), ['group-acme/shop', 'group-acme/shop-main']],
    ['not by a request to look at its refs', repository({ annotations: { a: '2' } }), ['group-acme/shop']],
    ['not by its status', repository({ resourceVersion: '2' }), []],
  ])('%s', (_what, changed, expected) => {
    expect(wokenBy('repositories', 'updated', changed, changed)).toEqual(expected);
  });
});

describe('the deletion of an Environment requeues', () => {
  test.each<[string, KubernetesObject | undefined, object, string[]]>([
    ['its Repository and its Group where they go too', repository(going), going, ['group-acme/shop', 'acme']],
    ['no Repository and no Group that stay', repository({}), {}, []],
    ['no Repository that does not exist', undefined, going, ['acme']],
  ])('%s', (_what, held, group, expected) => {
    const keys = wokenBy('environments', 'deleted', environment, held, object({ name: 'acme', ...group }));
    expect(keys.filter((key) => key !== 'group-acme/shop-main')).toEqual(expected);
  });
});

test.each(['repositories', 'reusables'] as const)(
  'the deletion of one of the %s requeues a Group that is being deleted',
  (kind) => {
    expect(wokenBy(kind, 'deleted', repository({}), undefined, object({ name: 'acme', ...going }))).toContain('acme');
    expect(wokenBy(kind, 'deleted', repository({}), undefined)).not.toContain('acme');
  },
);

describe('a change of an isolation object requeues its Environment', () => {
  const state = (value: string, rv: string) => ({
    ...object({ name: 'default-deny', namespace: 'env-x', resourceVersion: rv }),
    state: value,
  });
  const labels = { 'coppice.dev/group': 'acme', 'coppice.dev/environment': 'shop-main' };

  function woken(type: string, changed: object, old?: object, namespace: object = object({ labels })): string[] {
    const keys: string[] = [];
    const handlers: [string, (type: string, object: object, old?: object) => void][] = [];
    const caches = new Proxy({} as OperatorCaches, {
      get: (_target, name: string) => ({
        addHandler: (handler: never) => handlers.push([name, handler]),
        get: () => (name === 'namespaces' ? namespace : undefined),
        byIndex: () => [],
      }),
    });
    const controller = { enqueue: (key: string) => keys.push(key), enqueueAfter: (key: string) => keys.push(key) };
    for (const watch of [watchForRepositories, watchForGroups, watchEnvironments]) watch(caches, controller);
    for (const [name, handle] of handlers) if (name === 'resourceQuotas') handle(type, changed, old);
    return keys;
  }

  test.each([
    ['when it is deleted', woken('deleted', state('a', '1')), ['group-acme/shop-main']],
    ['when it is changed', woken('updated', state('b', '2'), state('a', '1')), ['group-acme/shop-main']],
    ['not when usage is counted', woken('updated', state('a', '2'), state('a', '1')), []],
    ['not when everything is deleted', woken('deleted', state('a', '1'), undefined, object({ labels, ...going })), []],
  ])('%s', (_what, keys, expected) => {
    expect(keys).toEqual(expected);
  });
});

describe('a route of an environment', () => {
  const labels = { 'coppice.dev/group': 'acme', 'coppice.dev/environment': 'shop-main' };
  const route = object({ name: 'web', namespace: 'env-x', labels });

  function woken(type: string, hasGateways: boolean): string[] {
    const keys: string[] = [];
    const handlers: [string, (type: string, object: object) => void][] = [];
    const caches = new Proxy({} as OperatorCaches, {
      get: (_target, name: string) =>
        name === 'httpRoutes' && !hasGateways
          ? undefined
          : { addHandler: (handler: never) => handlers.push([name, handler]) },
    });
    const enqueue = (key: string) => keys.push(key);
    watchEnvironments(caches, { enqueue, enqueueAfter: enqueue });
    for (const [name, handle] of handlers) if (name === 'httpRoutes') handle(type, route);
    return keys;
  }

  test.each(['updated', 'deleted'])('requeues its Environment when it is %s, if there are Gateways', (type) => {
    expect(woken(type, true)).toEqual(['group-acme/shop-main']);
    expect(woken(type, false)).toEqual([]);
  });
});

describe('objects that wait for their namespace to belong to a Group are requeued', () => {
  const inGroup = [object({ name: 'shop', namespace: 'group-acme' })];
  function woken(kind: 'groups' | 'namespaces', changed: object, old?: object): string[] {
    const keys: string[] = [];
    const handlers: [string, (type: string, object: object, old?: object) => void][] = [];
    const caches = new Proxy({} as OperatorCaches, {
      get: (_target, name: string) => ({
        addHandler: (handler: never) => handlers.push([name, handler]),
        get: () => undefined,
        byIndex: (index: string, value: string) =>
          index === 'namespace' && value === 'group-acme' && name === 'repositories' ? inGroup : [],
      }),
    });
    watchForRepositories(caches, { enqueue: (key: string) => keys.push(key) });
    for (const [name, handle] of handlers) if (name === kind) handle('updated', changed, old);
    return keys;
  }
  const group = (metadata: object) => object({ name: 'acme', ...metadata });
  const namespace = (metadata: object) => object({ name: 'group-acme', ...metadata });

  test.each([
    ['by a Group that appears', woken('groups', group({})), ['group-acme/shop']],
    ['not by a Group that changes', woken('groups', group({ generation: 2 }), group({})), []],
    ['by a namespace that appears', woken('namespaces', namespace({})), ['group-acme/shop']],
    [
      'by a namespace that is labelled',
      woken('namespaces', namespace({ labels: { 'coppice.dev/group': 'acme' } }), namespace({})),
      ['group-acme/shop'],
    ],
    ['not by a namespace that stays', woken('namespaces', namespace({ resourceVersion: '2' }), namespace({})), []],
    ['not by another one', woken('namespaces', object({ name: 'env-x' })), []],
  ])('%s', (_what, keys, expected) => {
    expect(keys).toEqual(expected);
  });
});

describe('an environment that somebody waits for when the operator starts', () => {
  const settled: Environment = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'shop-main', namespace: 'group-acme', generation: 2 },
    spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
    status: { observedGeneration: 2 },
  };
  const reconciling = { type: 'Reconciling', status: 'True', reason: 'Queued', message: '' } as const;
  const at = '2026-01-01T00:00:00Z';
  const annotations = { 'coppice.dev/request-build': `${at}/1` };
  test.each<[string, Environment | undefined, boolean]>([
    ['settled', settled, false],
    ['changed', { ...settled, metadata: { ...settled.metadata, generation: 3 } }, true],
    ['without a status', { ...settled, status: {} }, true],
    ['being deleted', { ...settled, metadata: { ...settled.metadata, deletionTimestamp: at } }, true],
    ['with a request', { ...settled, metadata: { ...settled.metadata, annotations } }, true],
    [
      'with a handled request',
      {
        ...settled,
        metadata: { ...settled.metadata, annotations },
        status: { observedGeneration: 2, handledRequests: { build: `${at}/1` } },
      },
      false,
    ],
    [
      'reconciling',
      { ...settled, status: { observedGeneration: 2, conditions: [{ ...reconciling, lastTransitionTime: at }] } },
      true,
    ],
    ['gone', undefined, true],
  ])('%s', (_what, environment, expected) => {
    expect(isInTransition(environment)).toBe(expected);
  });
});
