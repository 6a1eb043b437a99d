import { expect, test } from '@jest/globals';
import { findCondition } from '../../crds/conditions.ts';
import type { Group } from '../../crds/group.ts';
import { FINALIZER, LABELS } from '../../crds/labels.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { KubernetesObject, ObjectName, ResourceType, RoleBinding } from '../../kubernetes/resource-type.ts';
import { GroupReconciler, type GroupParts } from './reconciler.ts';

const binding = (name: string, role: string, labels?: Record<string, string>): RoleBinding => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { namespace: 'group-acme', name, labels, uid: `uid of ${name}` },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
});

interface Given {
  deletionTimestamp?: string;
  /** Of the namespace. */
  labels?: Record<string, string>;
  /** What the cluster does not let the operator write, as `delete RoleBinding members`. */
  refused?: string[];
}

/** A group in a namespace that an administrator made for it, with these RoleBindings; and what is written. */
function world(
  bindings: RoleBinding[],
  { deletionTimestamp, labels = { [LABELS.group]: 'acme' }, refused = [] }: Given = {},
) {
  const group: Group = {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Group',
    metadata: { name: 'acme', uid: 'u', finalizers: [FINALIZER], deletionTimestamp },
    spec: { members: [] },
  };
  const namespace = { metadata: { name: 'group-acme', labels } };
  const writes: string[] = [];
  const write = (what: string) => {
    if (refused.includes(what)) return Promise.reject(new ApiError(what, 403, 'Forbidden', 'a policy says no'));
    writes.push(what);
    return Promise.resolve();
  };
  const client = {
    list: () => Promise.resolve({ items: [] }),
    find: ({ kind }: ResourceType, { name }: ObjectName) =>
      Promise.resolve(kind === 'Namespace' ? namespace : bindings.find(({ metadata }) => metadata.name === name)),
    patch: () => {
      writes.push('let the group go');
      return Promise.resolve(group);
    },
    delete: ({ kind }: ResourceType, { name }: ObjectName) => write(`delete ${kind} ${name}`),
  };
  const reconciler = new GroupReconciler({
    client,
    applier: {
      apply: (_type: ResourceType, { metadata }: KubernetesObject) => write(`apply ${metadata.name}`),
    },
    groups: { get: () => group },
    namespaces: { get: (name: string) => (name === 'group-acme' ? namespace : undefined) },
    builders: { remove: () => Promise.resolve(true) },
    statuses: {
      write: (_group: Group, status: Group['status']) => {
        group.status = status;
        return Promise.resolve();
      },
    },
    roles: { member: 'look', api: 'keep', apiServiceAccount: { namespace: 'coppice-system', name: 'coppice-api' } },
    now: () => new Date(0),
  } as unknown as GroupParts);
  return { group, writes, reconcile: () => reconciler.reconcile('acme') };
}

const deletionTimestamp = '2026-01-01T00:00:00Z';

test('its bindings without their labels get them again, and go with the group', async () => {
  const bare = [binding('members', 'look'), binding('api', 'keep')];
  const alive = world(bare);
  await alive.reconcile();
  expect(alive.writes).toEqual(['apply members', 'apply api']);
  const ending = world(bare, { deletionTimestamp });
  await ending.reconcile();
  expect(ending.writes).toEqual(['delete RoleBinding members', 'delete RoleBinding api', 'let the group go']);
});

test('a binding of another role is neither taken nor deleted, and keeps no group from going', async () => {
  const theirs = [binding('members', 'edit', { [LABELS.group]: 'acme' })];
  const ending = world(theirs, { deletionTimestamp });
  await ending.reconcile();
  expect(ending.writes).toEqual(['let the group go']);
});

const [members, api] = [binding('members', 'edit'), binding('api', 'view')];
test.each<[string, RoleBinding[], string[], { reason: string; told: string; writes: string[] }]>([
  ['members', [members], [], { reason: 'RoleBindingTaken', told: 'members in', writes: ['apply api'] }],
  ['api', [api], [], { reason: 'RoleBindingTaken', told: 'api in', writes: ['apply members'] }],
  ['both', [members, api], [], { reason: 'RoleBindingTaken', told: 'members in', writes: [] }],
  ['the cluster', [], ['apply members'], { reason: 'Retrying', told: 'a policy says no', writes: ['apply api'] }],
])('where one binding cannot be made, the other is all the same: %s', async (_what, taken, refused, expected) => {
  const { group, writes, reconcile } = world(taken, { refused });
  await expect(reconcile()).rejects.toThrow(expected.told);
  expect(writes).toEqual(expected.writes);
  const { reason, message } = findCondition(group.status?.conditions, 'Ready') ?? {};
  expect({ reason, message }).toEqual({ reason: expected.reason, message: expect.stringContaining(expected.told) });
});

test('its bindings go with it where the namespace has lost its label', async () => {
  const { writes, reconcile } = world([binding('members', 'look'), binding('api', 'keep')], {
    deletionTimestamp,
    labels: {},
  });
  await reconcile();
  expect(writes).toEqual(['delete RoleBinding members', 'delete RoleBinding api', 'let the group go']);
});

test('why it cannot go is told, and what can go goes', async () => {
  const { group, writes, reconcile } = world([binding('members', 'look'), binding('api', 'keep')], {
    deletionTimestamp,
    refused: ['delete RoleBinding members'],
  });
  await expect(reconcile()).rejects.toThrow('a policy says no');
  expect(writes).toEqual(['delete RoleBinding api']);
  const told = findCondition(group.status?.conditions, 'Reconciling');
  expect(told).toMatchObject({ status: 'True', reason: 'Retrying' });
  expect(told?.message).toContain('delete RoleBinding members: 403');
});
