import { describe, expect, test } from '@jest/globals';
import { findCondition } from '../../../crds/conditions.ts';
import type { Group } from '../../../crds/group.ts';
import { ANNOTATIONS, FINALIZER, LABELS } from '../../../crds/labels.ts';
import { ApiError } from '../../../kubernetes/api-error.ts';
import {
  keyOf,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
  type RoleBinding,
} from '../../../kubernetes/resource-type.ts';
import { GroupReconciler, type GroupReconcilerOptions } from './reconciler.ts';

const enforce = 'pod-security.kubernetes.io/enforce';

const binding = (name: string, role: string, labels?: Record<string, string>): RoleBinding => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { namespace: 'group-acme', name, labels, uid: `uid of ${name}` },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
});

interface Given {
  deletionTimestamp?: string;
  /** Labels of the namespace. */
  labels?: Record<string, string>;
  /** The UID of the Group for which the operator created the namespace; undefined for an administrator's. */
  madeFor?: string;
  /** Writes that the cluster refuses, such as `delete RoleBinding members`. */
  refused?: string[];
}

/** Returns a group in a namespace that an administrator created, with these RoleBindings; records the writes. */
function world(
  bindings: RoleBinding[],
  {
    deletionTimestamp,
    labels = { [LABELS.group]: 'acme', [enforce]: 'restricted' },
    madeFor,
    refused = [],
  }: Given = {},
) {
  const group: Group = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Group',
    metadata: { name: 'acme', uid: 'u', finalizers: [FINALIZER], deletionTimestamp },
    spec: { members: [] },
  };
  const annotations = { ...(madeFor && { [ANNOTATIONS.ownerUid]: madeFor }) };
  const namespace = { metadata: { name: 'group-acme', uid: 'n', labels, annotations } };
  const writes: string[] = [];
  const time = { now: new Date(0) };
  const write = (what: string) => {
    if (refused.includes(what)) return Promise.reject(new ApiError(what, 403, 'Forbidden', 'a policy says no'));
    writes.push(what);
    return Promise.resolve();
  };
  const client = {
    list: () => Promise.resolve({ items: [] }),
    find: ({ kind }: ResourceType, { name }: ObjectName) =>
      Promise.resolve(kind === 'Namespace' ? namespace : bindings.find(({ metadata }) => metadata.name === name)),
    patch: ({ kind }: ResourceType, _at: ObjectName, { metadata }: { metadata: { labels?: object } }) => {
      writes.push(kind === 'Namespace' ? `label ${JSON.stringify(metadata.labels)}` : 'let the group go');
      return Promise.resolve(kind === 'Namespace' ? namespace : group);
    },
    delete: ({ kind }: ResourceType, { name }: ObjectName) => write(`delete ${kind} ${name}`),
  };
  const reconciler = new GroupReconciler({
    client,
    applier: {
      apply: async (_type: ResourceType, object: KubernetesObject, live: KubernetesObject | undefined) => {
        const isSame = live?.metadata.labels !== undefined;
        if (!isSame) await write(`apply ${object.metadata.name}`);
        return { object, written: !isSame };
      },
    },
    groups: { get: () => group },
    namespaces: { get: (name: string) => (name === 'group-acme' ? namespace : undefined), observe: () => undefined },
    roleBindings: {
      get: (key: string) => bindings.find((one) => one.metadata.labels && keyOf(one) === key),
      observe: () => undefined,
    },
    store: { restore: () => write('restore the store').then(() => false) },
    builders: { remove: () => Promise.resolve(true) },
    statuses: {
      write: (_group: Group, status: Group['status']) => {
        group.status = status;
        return Promise.resolve();
      },
    },
    roles: { member: 'look', api: 'keep', apiServiceAccount: { namespace: 'coppice-system', name: 'coppice-api' } },
    now: () => time.now,
  } as unknown as GroupReconcilerOptions);
  return { group, writes, time, reconcile: () => reconciler.reconcile('acme') };
}

const deletionTimestamp = '2026-01-01T00:00:00Z';

test('restores the labels of its bindings, and deletes them with the group', async () => {
  const bare = [binding('members', 'look'), binding('api', 'keep')];
  const alive = world(bare);
  await alive.reconcile();
  expect(alive.writes).toEqual(['apply members', 'apply api', 'restore the store']);
  const ending = world(bare, { deletionTimestamp });
  await ending.reconcile();
  expect(ending.writes).toEqual(['delete RoleBinding members', 'delete RoleBinding api', 'let the group go']);
});

test('reports that it is being deleted while its namespace exists', async () => {
  const ending = world([], { deletionTimestamp, madeFor: 'u' });
  await ending.reconcile();
  expect(findCondition(ending.group.status?.conditions, 'Ready')).toMatchObject({
    ...{ status: 'False', reason: 'Terminating' },
  });
});

test('reports variables with names that only Coppice sets until they are renamed, and stays ready', async () => {
  const { group, reconcile } = world([binding('members', 'look', {}), binding('api', 'keep', {})]);
  const variable = (name: string) => ({ name, value: 'x', visibility: 'always' as const });
  const condition = (type: string) => findCondition(group.status?.conditions, type);
  group.spec.variables = [variable('COPPICE_COMMIT'), variable('TOKEN'), variable('COPPICE_X')];
  await reconcile();
  expect(condition('VariablesValid')).toMatchObject({ status: 'False', reason: 'ReservedName' });
  expect(condition('VariablesValid')?.message).toBe(
    'COPPICE_COMMIT, COPPICE_X: ignored, because names that start with COPPICE_ are for the variables that Coppice sets. Rename or delete them',
  );
  expect(condition('Ready')?.status).toBe('True');
  group.spec.variables = [variable('TOKEN')];
  await reconcile();
  expect(condition('VariablesValid')).toBeUndefined();
});

test('neither takes nor deletes a binding of another role, which does not prevent the deletion of the group', async () => {
  const theirs = [binding('members', 'edit', { [LABELS.group]: 'acme' })];
  const ending = world(theirs, { deletionTimestamp });
  await ending.reconcile();
  expect(ending.writes).toEqual(['let the group go']);
});

const [members, api] = [binding('members', 'edit'), binding('api', 'view')];
test.each<[string, RoleBinding[], string[], { reason: string; reported: string; writes: string[] }]>([
  ['members', [members], [], { reason: 'RoleBindingTaken', reported: 'members in', writes: ['apply api'] }],
  ['api', [api], [], { reason: 'RoleBindingTaken', reported: 'api in', writes: ['apply members'] }],
  ['both', [members, api], [], { reason: 'RoleBindingTaken', reported: 'members in', writes: [] }],
  ['the cluster', [], ['apply members'], { reason: 'Retrying', reported: 'a policy says no', writes: ['apply api'] }],
])('creates one binding although the other one fails: %s', async (_what, taken, refused, expected) => {
  const { group, writes, reconcile } = world(taken, { refused });
  await expect(reconcile()).rejects.toThrow(expected.reported);
  expect(writes).toEqual(expected.writes);
  const { reason, message } = findCondition(group.status?.conditions, 'Ready') ?? {};
  expect({ reason, message }).toEqual({ reason: expected.reason, message: expect.stringContaining(expected.reported) });
});

test('deletes the bindings with the group if the namespace has lost its label', async () => {
  const { writes, reconcile } = world([binding('members', 'look'), binding('api', 'keep')], {
    deletionTimestamp,
    labels: {},
  });
  await reconcile();
  expect(writes).toEqual(['delete RoleBinding members', 'delete RoleBinding api', 'let the group go']);
});

test('reports why the group cannot be deleted, and deletes what it can', async () => {
  const { group, writes, reconcile } = world([binding('members', 'look'), binding('api', 'keep')], {
    deletionTimestamp,
    refused: ['delete RoleBinding members'],
  });
  await expect(reconcile()).rejects.toThrow('a policy says no');
  expect(writes).toEqual(['delete RoleBinding api']);
  const reported = findCondition(group.status?.conditions, 'Reconciling');
  expect(reported).toMatchObject({ status: 'True', reason: 'Retrying' });
  expect(reported?.message).toContain('delete RoleBinding members: 403');
});

describe("restores the labels of the group's namespace", () => {
  const managed = { [LABELS.managedBy]: 'coppice', [LABELS.group]: 'acme' };
  test.each<[string, Given, string[]]>([
    ['that an administrator created without Pod Security', { labels: { [LABELS.group]: 'acme' } }, [enforce]],
    ['that was opened', { madeFor: 'u', labels: { ...managed, [enforce]: 'privileged' } }, [enforce]],
    ['that lost all', { madeFor: 'u', labels: {} }, [LABELS.managedBy, LABELS.group, enforce]],
    ['which is as it should be', { madeFor: 'u', labels: { ...managed, [enforce]: 'restricted' } }, []],
  ])('of one %s', async (_what, given, lost) => {
    const bindings = [binding('members', 'look', managed), binding('api', 'keep', managed)];
    const { writes, reconcile } = world(bindings, given);
    await reconcile();
    const labelled = writes.flatMap((write) => {
      if (!write.startsWith('label ')) return [];
      return Object.keys(JSON.parse(write.slice('label '.length)) as object);
    });
    expect(labelled).toEqual(lost);
    expect(writes.filter((write) => write.startsWith('apply'))).toEqual([]);
  });
});

describe('what somebody keeps changing', () => {
  const restored = ({ writes }: ReturnType<typeof world>) => writes.filter((what) => what === 'apply members').length;
  /** A world whose binding and namespace have lost their labels again whenever they are read. */
  const contested = () => world([binding('members', 'look'), binding('api', 'keep')]);

  test('is restored ten times at once, then every 30 s', async () => {
    const group = contested();
    await group.reconcile();
    for (let times = 0; times < 10; times++) expect(await group.reconcile()).toEqual({});
    expect(await group.reconcile()).toEqual({ requeueAfterMs: 30_000 });
    expect(restored(group)).toBe(11);
    expect(findCondition(group.group.status?.conditions, 'Ready')?.status).toBe('True');
    group.time.now = new Date(30_000);
    expect(await group.reconcile()).toEqual({});
    expect(await group.reconcile()).toEqual({ requeueAfterMs: 30_000 });
    expect(restored(group)).toBe(12);
  });

  test('does not delay a change of the Group', async () => {
    const group = contested();
    for (let times = 0; times < 12; times++) await group.reconcile();
    group.group.metadata.generation = 2;
    expect(await group.reconcile()).toEqual({});
    expect(restored(group)).toBe(12);
  });

  test('is not counted while nothing is restored', async () => {
    const group = world([
      binding('members', 'look', { [LABELS.group]: 'acme' }),
      binding('api', 'keep', { [LABELS.group]: 'acme' }),
    ]);
    for (let times = 0; times < 20; times++) expect(await group.reconcile()).toEqual({});
  });
});
