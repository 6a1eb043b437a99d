import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Environment } from '../../../../crds/environment.ts';
import { ApiError } from '../../../../kubernetes/api-error.ts';
import {
  keyOf,
  type KubernetesObject,
  type Namespace,
  type RoleBinding,
} from '../../../../kubernetes/resource-type.ts';
import { IsolationStates } from '../../../services/isolation/isolation-states.ts';
import { reduced, type ObjectState } from '../../../services/isolation/object-state.ts';
import { EnvironmentNamespace, PULL_SECRET_ANNOTATION } from './environment-namespace.ts';
import type { PhaseResult } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { environmentNamespaceObject } from '../../../services/isolation/isolation-objects.ts';
import { scopeOf } from '../testing/scope.ts';
import { DEFAULT_EGRESS } from '../../../shared/testing/default-egress.ts';

const environment: Environment = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', generation: 1 },
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
};

let writes: string[];
let finds: number;
/** The names of the restored parts in the order of their reports. */
let restored: string[];
/** The isolation objects by kind and key, as the watches report them. */
let states: Map<string, ObjectState>;
let revision: number;
let there: Namespace | undefined;
let isWatched: boolean;
/** The pull Secret's name, by which the test changes the isolation objects. */
let registry: string;
/** The RoleBindings that were applied, by name. */
let appliedBindings: Map<string, RoleBinding>;
/** The key of hashes over secret values. */
let key: string;
/** When to replace the pull Secret's credentials. */
let renewAt: Date | undefined;
/** From now on no isolation policy can be written. */
let isCutOff: boolean;
/** The members of the group; undefined if members cannot read. */
let members: string[] | undefined;
/** Whether the installation has shells. */
let hasShells: boolean;
/** Whether a RoleBinding of the name binds another role. */
let isBindingTaken: boolean;

beforeEach(() => {
  writes = [];
  finds = 0;
  restored = [];
  states = new Map();
  revision = 0;
  there = undefined;
  isWatched = true;
  registry = 'registry';
  key = 'key';
  appliedBindings = new Map();
  renewAt = undefined;
  isCutOff = false;
  members = undefined;
  isBindingTaken = false;
  hasShells = false;
});

function contents(): EnvironmentNamespace {
  const client = {
    find: () => {
      finds += 1;
      return Promise.resolve(there);
    },
    get: () => Promise.resolve(there),
    create: (_type: unknown, object: Namespace) => {
      if (there) return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'it is there'));
      writes.push(`create ${object.metadata.name}`);
      there = { ...object, metadata: { ...object.metadata, uid: 'ns-1' } };
      return Promise.resolve(there);
    },
    patch: (_type: unknown, { name }: { name: string }, { metadata }: { metadata: Partial<Namespace['metadata']> }) => {
      writes.push(`patch ${name}${metadata.labels ? ` ${JSON.stringify(metadata.labels)}` : ''}`);
      if (there && metadata.labels) {
        const labels = { ...there.metadata.labels, ...metadata.labels };
        const left = Object.entries(labels).filter(([, value]) => (value as string | null) !== null);
        there = { ...there, metadata: { ...there.metadata, labels: Object.fromEntries(left) } };
      }
      const annotations = { ...there?.metadata.annotations, ...metadata.annotations };
      const kept = Object.entries(annotations).filter(([, value]) => (value as string | null) !== null);
      if (there) there = { ...there, metadata: { ...there.metadata, annotations: Object.fromEntries(kept) } };
      return Promise.resolve(there);
    },
    delete: (_type: unknown, { name }: { name: string }, { uid }: { uid: string }) => {
      writes.push(`delete ${name} ${uid}`);
      return Promise.resolve();
    },
  };
  const applier = {
    replace: (_type: unknown, object: KubernetesObject, { isNew }: { isNew: boolean }) => {
      if (isCutOff) return Promise.reject(new Error('the operator died'));
      if (isBindingTaken && object.kind === 'RoleBinding') {
        return Promise.reject(new ApiError('PUT', 422, 'Invalid', 'roleRef: cannot change roleRef'));
      }
      writes.push(`${isNew ? 'new' : 'replace'} ${object.kind}`);
      if (object.kind === 'RoleBinding') appliedBindings.set(object.metadata.name, object as RoleBinding);
      const metadata = { ...object.metadata, resourceVersion: String((revision += 1)), managedFields: [{ revision }] };
      return Promise.resolve({ object: { ...object, metadata } });
    },
  };
  const namespaces = { get: () => (isWatched ? there : undefined), observe: () => undefined };
  const pullSecret = () =>
    Promise.resolve({
      secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name: registry } },
      renewAt,
    });
  const isolationSettings = {
    ...{ builderNamespace: 'builders', buildkitdPort: 1234, clonePorts: [443] },
    ...{ quota: {}, defaultRequests: {}, defaultLimits: {}, egress: DEFAULT_EGRESS },
  };
  const onRestored = (_scope: EnvironmentScope, what: string) => void restored.push(what);
  const serviceAccount = { namespace: 'coppice-system', name: 'coppice-api' };
  const membersAccess = () => members && { role: 'environment-member', members, serviceAccount };
  const apiAccess = ({ isTrusted }: Pick<EnvironmentScope, 'isTrusted'>) =>
    hasShells ? { role: 'environment-api', ...(isTrusted && { serviceAccount }) } : undefined;
  const hashKey = () => Promise.resolve(Buffer.from(key));
  const settings = { isolation: isolationSettings, pullSecret, hashKey, membersAccess, apiAccess, onRestored };
  return new EnvironmentNamespace(client as never, applier as never, namespaces as never, isolation(), settings);
}

function isolation(): IsolationStates {
  const cache = (kind: string) => ({
    get: (key: string) => states.get(`${kind} ${key}`),
    observe: (object: ObjectState) => void states.set(`${kind} ${keyOf(object)}`, object),
  });
  return new IsolationStates({
    NetworkPolicy: cache('NetworkPolicy'),
    LimitRange: cache('LimitRange'),
    ResourceQuota: cache('ResourceQuota'),
    RoleBinding: cache('RoleBinding'),
  });
}

/** Whether this writes an object into the namespace. */
const isOfContents = (write: string) => /^(new|replace) /.test(write);

const present = () => scopeOf({ ...structuredClone(environment), status: { namespaceUID: 'ns-1' } }, () => new Date());
const scope = () => scopeOf(structuredClone(environment), () => new Date());
const own = (): Namespace => environmentNamespaceObject('env-shop-main--acme', scope().labels, 'u1');

/** Namespaces of the right name that somebody else created, or whose labels contradict each other. */
const theirs: [string, Namespace][] = [
  ['that somebody made', { ...own(), metadata: { name: 'env-shop-main--acme', uid: 'ns-x' } }],
  [
    'of a former Environment of the name',
    environmentNamespaceObject('env-shop-main--acme', { ...scope().labels, 'coppice.dev/environment-uid': 'u0' }, 'u0'),
  ],
  ['with the UID only in its label', { ...own(), metadata: { ...own().metadata, annotations: {} } }],
  ['with the UID only in its annotation', { ...own(), metadata: { ...own().metadata, labels: {} } }],
];

describe.each([
  ['that the informer holds', true],
  ['that the informer does not hold', false],
])('a namespace %s', (_what, watched) => {
  beforeEach(() => {
    isWatched = watched;
  });

  test.each(theirs)('%s is reported as a conflict, and left unchanged', async (_whose, namespace) => {
    there = namespace;
    await expect(contents().ensure(scope())).rejects.toMatchObject({
      reason: 'NamespaceTaken',
      message: expect.stringContaining('env-shop-main--acme exists and was not created for this environment'),
    });
    expect(writes).toEqual([]);
  });

  test.each(theirs)('%s is not deleted with the environment', async (_whose, namespace) => {
    there = namespace;
    expect(await contents().remove(present())).toBe(true);
    expect(writes).toEqual([]);
  });

  test('of the environment is isolated, and deleted by its UID', async () => {
    there = { ...own(), metadata: { ...own().metadata, uid: 'ns-1' } };
    await contents().ensure(scope());
    expect(writes.filter(isOfContents)).toEqual([
      ...['new LimitRange', 'new NetworkPolicy', 'new NetworkPolicy', 'new NetworkPolicy', 'new Secret'],
      'new ResourceQuota',
    ]);
    expect(await contents().remove(present())).toBe(false);
    expect(writes.at(-1)).toBe('delete env-shop-main--acme ns-1');
  });
});

test.each<[string, Environment, number]>([
  ['not looked for if the status records none', { ...environment, status: { observedGeneration: 1 } }, 0],
  ['looked for if there is no status, as after a restore', environment, 1],
  ['looked for if the status records it', { ...environment, status: { namespaceUID: 'ns-1' } }, 1],
  [
    'looked for when the Environment is deleted',
    { ...environment, metadata: { ...environment.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    1,
  ],
])('a namespace that the informer does not hold is %s', async (_what, object, found) => {
  isWatched = false;
  expect(await contents().remove(scopeOf(structuredClone(object), () => new Date()))).toBe(true);
  expect(finds).toBe(found);
});

test('creates a missing namespace with the UID in a label and an annotation', async () => {
  await contents().ensure(scope());
  expect(writes[0]).toBe('create env-shop-main--acme');
  expect(there?.metadata).toMatchObject({
    labels: { 'coppice.dev/environment-uid': 'u1' },
    annotations: { 'coppice.dev/owner-uid': 'u1' },
  });
});

test('isolates a new namespace with a request for each object, and one that records all of them', async () => {
  members = ['ann@example.com'];
  hasShells = true;
  await contents().ensure(scope());
  expect(writes).toEqual([
    'create env-shop-main--acme',
    ...['new LimitRange', 'new NetworkPolicy', 'new NetworkPolicy', 'new NetworkPolicy'],
    ...['new RoleBinding', 'new RoleBinding', 'new Secret', 'new ResourceQuota'],
    'patch env-shop-main--acme',
  ]);
});

describe('the isolation policies of a namespace', () => {
  const applied = () => writes.filter(isOfContents).length;
  const reconcile = async () => {
    writes = [];
    await contents().ensure(scope());
  };

  test('are applied once', async () => {
    await reconcile();
    expect(applied()).toBeGreaterThan(0);
    await reconcile();
    expect(writes).toEqual([]);
  });

  test('that were applied in part are applied again, also if nothing changes', async () => {
    await reconcile();
    hasShells = true;
    isCutOff = true;
    await expect(reconcile()).rejects.toThrow('the operator died');
    hasShells = false;
    isCutOff = false;
    await reconcile();
    expect(applied()).toBeGreaterThan(0);
  });

  const policy = 'NetworkPolicy env-shop-main--acme/default-deny';
  const quota = 'ResourceQuota env-shop-main--acme/environment';
  const changedBy = (metadata: object): ObjectState => {
    const name = { name: 'environment', namespace: 'env-shop-main--acme', resourceVersion: '99' };
    return reduced('ResourceQuota', { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { ...name, ...metadata } });
  };

  test.each<[string, () => void]>([
    ['a policy is deleted', () => states.delete(policy)],
    ['the quota is deleted', () => states.delete(quota)],
    ['a policy is changed', () => states.set(policy, { ...stateAt(policy), state: '99' })],
    ['the quota is changed', () => states.set(quota, changedBy({ managedFields: [{ manager: 'kubectl-edit' }] }))],
  ])('is restored once and reported when %s, also by another operator', async (_what, change) => {
    await reconcile();
    change();
    await reconcile();
    expect(writes.filter((write) => write.startsWith('replace'))).toHaveLength(6);
    expect(restored).toEqual(['quota, limits, network policies or RoleBinding']);
    await reconcile();
    expect(writes).toEqual([]);
  });

  test('is restored ten times at once and then later, so that nobody keeps the operator busy', async () => {
    await reconcile();
    const one = contents();
    let last: PhaseResult = {};
    for (let time = 0; time < 12; time += 1) {
      states.delete(policy);
      last = await one.ensure(scope());
    }
    expect(restored).toHaveLength(10);
    expect(last.requeueAfterMs).toBeGreaterThan(0);
  });

  test('is reconciled again when its credentials are to be replaced, although nothing is written', async () => {
    const one = contents();
    renewAt = new Date(Date.now() + 3600_000);
    const first = await one.ensure(scope());
    writes = [];
    const second = await one.ensure(scope());
    expect(writes).toEqual([]);
    for (const { requeueAfterMs = 0 } of [first, second]) {
      expect(requeueAfterMs).toBeGreaterThan(3590_000);
      expect(requeueAfterMs).toBeLessThanOrEqual(3600_000);
    }
  });

  test('are not applied again, nor reported as restored, when the pull Secret changes', async () => {
    await reconcile();
    registry = 'of-the-group';
    await reconcile();
    expect(writes).toEqual(['replace Secret', 'patch env-shop-main--acme']);
    expect(restored).toEqual([]);
    await reconcile();
    expect(writes).toEqual([]);
  });

  test('are beside a hash of the pull Secret that nobody without the key can compute', async () => {
    const markWith = async (of: string) => {
      key = of;
      await reconcile();
      return there?.metadata.annotations?.[PULL_SECRET_ANNOTATION];
    };
    const first = await markWith('key');
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await markWith('key')).toBe(first);
    expect(await markWith('another key')).not.toBe(first);
  });

  test('do not keep the pull Secret from being renewed while they are restored later', async () => {
    await reconcile();
    const one = contents();
    for (let time = 0; time < 12; time += 1) {
      states.delete(policy);
      await one.ensure(scope());
    }
    registry = 'of-the-group';
    writes = [];
    await one.ensure(scope());
    expect(writes).toEqual(['replace Secret', 'patch env-shop-main--acme']);
  });

  test('of a sleeping environment cost no write: its pull Secret is renewed when it wakes', async () => {
    const sleepAt = (asleep: boolean): EnvironmentScope => {
      const sleep = { asleep, reason: 'Idle', since: '2026-01-01T00:00:00Z' } as const;
      return scopeOf({ ...structuredClone(environment), status: { sleep } }, () => new Date());
    };
    await reconcile();
    registry = 'renewed';
    renewAt = new Date(Date.now() + 3600_000);
    writes = [];
    expect((await contents().ensure(sleepAt(true))).requeueAfterMs).toBeUndefined();
    await contents().renewPullSecret(sleepAt(true));
    expect(writes).toEqual([]);
    await contents().renewPullSecret(sleepAt(false));
    await contents().renewPullSecret(sleepAt(false));
    expect(writes).toEqual(['replace Secret', 'patch env-shop-main--acme']);

    // As an older Coppice has annotated it, without a key.
    const unkeyed = { [PULL_SECRET_ANNOTATION]: '0'.repeat(32) };
    if (there) there = { ...there, metadata: { ...there.metadata, annotations: unkeyed } };
    writes = [];
    await contents().renewPullSecret(sleepAt(true));
    expect(writes).toEqual(['replace Secret', 'patch env-shop-main--acme']);
  });

  const stateAt = (key: string): ObjectState => {
    const held = states.get(key);
    if (!held) throw new Error(`there is no ${key}`);
    return held;
  };
});

describe('the members of the group', () => {
  const binding = 'RoleBinding env-shop-main--acme/members';
  const bindings = () => writes.filter((write) => write.endsWith(' RoleBinding'));
  beforeEach(() => {
    members = ['ann@example.com'];
  });

  test('are bound once, and again when somebody removes the binding', async () => {
    await contents().ensure(scope());
    await contents().ensure(scope());
    expect(bindings()).toHaveLength(1);
    states.delete(binding);
    await contents().ensure(scope());
    expect(bindings()).toHaveLength(2);
    expect(restored).toHaveLength(1);
  });

  test('are bound without a report after they change', async () => {
    await contents().ensure(scope());
    members = ['ann@example.com', 'bob@example.com'];
    await contents().ensure(scope());
    expect(bindings()).toHaveLength(2);
    expect(restored).toEqual([]);
  });

  test('are not bound if the installation does not permit it', async () => {
    members = undefined;
    await contents().ensure(scope());
    expect(bindings()).toEqual([]);
  });

  test('are not bound in a namespace of an older Coppice, whose pods may show secret values', async () => {
    there = { ...own(), metadata: { ...own().metadata, uid: 'ns-1' } };
    await contents().ensure(scope());
    expect(bindings()).toEqual([]);
  });

  test('are not bound if somebody else owns the RoleBinding, which is reported', async () => {
    isBindingTaken = true;
    await expect(contents().ensure(scope())).rejects.toMatchObject({
      reason: 'RoleBindingTaken',
      message: expect.stringContaining('the RoleBinding members in the namespace env-shop-main--acme'),
    });
  });
});

describe('the API', () => {
  const pullRequest: Environment = {
    ...environment,
    spec: { ...environment.spec, gitRef: { name: '7', type: 'pull request' } },
  };
  const ensure = (of: Environment) => contents().ensure(scopeOf(structuredClone(of), () => new Date()));
  const subjects = () => appliedBindings.get('api')?.subjects;

  test('is not bound without shells', async () => {
    await ensure(environment);
    expect(appliedBindings.size).toBe(0);
  });

  test('is bound in the namespace of a branch', async () => {
    hasShells = true;
    await ensure(environment);
    expect(appliedBindings.get('api')).toMatchObject({
      metadata: { name: 'api', namespace: 'env-shop-main--acme' },
      roleRef: { kind: 'ClusterRole', name: 'environment-api' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'coppice-system', name: 'coppice-api' }],
    });
  });

  test('is bound only while the code of a pull request is trusted', async () => {
    hasShells = true;
    await ensure(pullRequest);
    expect(subjects()).toEqual([]);
    await ensure({ ...pullRequest, status: { fromFork: false } });
    expect(subjects()).toHaveLength(1);
    await ensure({ ...pullRequest, status: { fromFork: true } });
    expect(subjects()).toEqual([]);
    expect(restored).toEqual([]);
  });
});

describe('the labels of a namespace', () => {
  const enforce = 'pod-security.kubernetes.io/enforce';
  const labelled = async (labels: Record<string, string>) => {
    await contents().ensure(scope());
    if (there) there = { ...there, metadata: { ...there.metadata, labels: { ...there.metadata.labels, ...labels } } };
    writes = [];
    await contents().ensure(scope());
    return writes;
  };

  test('are restored and reported', async () => {
    const patched = `patch env-shop-main--acme ${JSON.stringify({ [enforce]: 'baseline' })}`;
    expect(await labelled({ [enforce]: 'privileged' })).toEqual([patched]);
    expect(restored).toEqual([`labels ${enforce} of the namespace`]);
    expect(there?.metadata.labels?.[enforce]).toBe('baseline');
  });

  test('can include others, and can enforce more', async () => {
    expect(await labelled({ [enforce]: 'restricted', team: 'x' })).toEqual([]);
  });

  test('that identify it are requested from the user', async () => {
    const bare = own();
    const labels = { ...bare.metadata.labels };
    delete labels['app.kubernetes.io/managed-by'];
    there = { ...bare, metadata: { ...bare.metadata, labels } };
    await expect(contents().ensure(scope())).rejects.toThrow('app.kubernetes.io/managed-by=coppice. Restore it');
  });
});
