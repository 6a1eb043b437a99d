import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import { keyOf, type KubernetesObject, type Namespace } from '../../kubernetes/resource-type.ts';
import { IsolationStates } from '../isolation/isolation-states.ts';
import { reduced, type ObjectState } from '../isolation/object-state.ts';
import { Contents } from './contents.ts';
import { environmentNamespaceObject } from './fence.ts';
import { EnvironmentScope } from './scope.ts';
import { defaultEgress } from '../testing/default-egress.ts';

const environment: Environment = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', generation: 1 },
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
};

let writes: string[];
/** The names of restored parts, as they are reported. */
let restored: string[];
/** What isolates, by kind and key, as the watches hold it. */
let states: Map<string, ObjectState>;
let version: number;
let there: Namespace | undefined;
let isWatched: boolean;
/** The pull Secret's name, which stands for what the fence is made of. */
let registry: string;
/** Nothing more is applied. */
let isCutOff: boolean;

beforeEach(() => {
  writes = [];
  restored = [];
  states = new Map();
  version = 0;
  there = undefined;
  isWatched = true;
  registry = 'registry';
  isCutOff = false;
});

function contents(): Contents {
  const client = {
    find: () => Promise.resolve(there),
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
    apply: (_type: unknown, object: KubernetesObject) => {
      if (isCutOff) return Promise.reject(new Error('the operator died'));
      writes.push(`apply ${object.kind}`);
      const metadata = { ...object.metadata, resourceVersion: String((version += 1)), managedFields: [{ version }] };
      return Promise.resolve({ object: { ...object, metadata } });
    },
  };
  const namespaces = { get: () => (isWatched ? there : undefined), observe: () => undefined };
  const pullSecret = () => Promise.resolve({ apiVersion: 'v1', kind: 'Secret', metadata: { name: registry } });
  const fence = {
    ...{ builderNamespace: 'builders', buildkitdPort: 1234, gitPorts: [443] },
    ...{ quota: {}, defaultRequests: {}, defaultLimits: {}, egress: defaultEgress },
  };
  const onRestored = (_scope: EnvironmentScope, what: string) => void restored.push(what);
  const settings = { fence, pullSecret, onRestored };
  return new Contents(client as never, applier as never, namespaces as never, isolation(), settings);
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
  });
}

const scope = () => new EnvironmentScope(structuredClone(environment), () => new Date());
const own = (): Namespace => environmentNamespaceObject('env-shop-main--acme', scope().labels, 'u1');

/** A namespace of the right name that another one made, or that says two things. */
const theirs: [string, Namespace][] = [
  ['that somebody made', { ...own(), metadata: { name: 'env-shop-main--acme', uid: 'ns-x' } }],
  [
    'of a former Environment of the name',
    environmentNamespaceObject('env-shop-main--acme', { ...scope().labels, 'coppice.dev/environment-uid': 'u0' }, 'u0'),
  ],
  ['whose label alone has the UID', { ...own(), metadata: { ...own().metadata, annotations: {} } }],
  ['whose annotation alone has the UID', { ...own(), metadata: { ...own().metadata, labels: {} } }],
];

describe.each([
  ['that the informer holds', true],
  ['that the informer does not hold', false],
])('a namespace %s', (_what, watched) => {
  beforeEach(() => {
    isWatched = watched;
  });

  test.each(theirs)('%s is a conflict that is told, and left as it is', async (_whose, namespace) => {
    there = namespace;
    await expect(contents().ensure(scope())).rejects.toMatchObject({
      reason: 'NamespaceTaken',
      message: expect.stringContaining('env-shop-main--acme exists and was not made for this environment'),
    });
    expect(writes).toEqual([]);
  });

  test.each(theirs)('%s is not deleted when the environment goes', async (_whose, namespace) => {
    there = namespace;
    expect(await contents().remove(scope())).toBe(true);
    expect(writes).toEqual([]);
  });

  test('of its own is fenced, and deleted by its UID', async () => {
    there = { ...own(), metadata: { ...own().metadata, uid: 'ns-1' } };
    await contents().ensure(scope());
    const applied = writes.filter((write) => write.startsWith('apply'));
    expect(applied).toEqual([
      ...['apply LimitRange', 'apply NetworkPolicy', 'apply NetworkPolicy', 'apply NetworkPolicy', 'apply Secret'],
      'apply ResourceQuota',
    ]);
    expect(await contents().remove(scope())).toBe(false);
    expect(writes.at(-1)).toBe('delete env-shop-main--acme ns-1');
  });
});

test('a namespace that is missing is made with the UID in label and annotation', async () => {
  await contents().ensure(scope());
  expect(writes[0]).toBe('create env-shop-main--acme');
  expect(there?.metadata).toMatchObject({
    labels: { 'coppice.dev/environment-uid': 'u1' },
    annotations: { 'coppice.dev/owner-uid': 'u1' },
  });
});

describe('the fence of a namespace', () => {
  const applied = () => writes.filter((write) => write.startsWith('apply')).length;
  const look = async () => {
    writes = [];
    await contents().ensure(scope());
  };

  test('is applied once', async () => {
    await look();
    expect(applied()).toBeGreaterThan(0);
    await look();
    expect(writes).toEqual([]);
  });

  test('that came to be applied in part is applied again, also when it is as before', async () => {
    await look();
    registry = 'of-the-group';
    isCutOff = true;
    await expect(look()).rejects.toThrow('the operator died');
    registry = 'registry';
    isCutOff = false;
    await look();
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
  ])('is restored once and reported when %s, also by an operator that starts anew', async (_what, change) => {
    await look();
    change();
    await look();
    expect(writes.filter((write) => write.startsWith('apply'))).toHaveLength(6);
    expect(restored).toEqual(['quota, limits and network policies']);
    await look();
    expect(writes).toEqual([]);
  });

  test('is restored ten times at once and then later, so that nobody keeps the operator writing', async () => {
    await look();
    const one = contents();
    let last = scope();
    for (let turn = 0; turn < 12; turn += 1) {
      states.delete(policy);
      last = scope();
      await one.ensure(last);
    }
    expect(restored).toHaveLength(10);
    expect(last.nextLookMs(60_000)).toBeGreaterThan(0);
  });

  test('is not reported as restored when what is applied has changed', async () => {
    await look();
    registry = 'of-the-group';
    await look();
    expect(restored).toEqual([]);
  });

  const stateAt = (key: string): ObjectState => {
    const held = states.get(key);
    if (!held) throw new Error(`there is no ${key}`);
    return held;
  };
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

  test('may be others, and may enforce more', async () => {
    expect(await labelled({ [enforce]: 'restricted', team: 'x' })).toEqual([]);
  });

  test('that Coppice knows its namespace by are asked back', async () => {
    const bare = own();
    const labels = { ...bare.metadata.labels };
    delete labels['app.kubernetes.io/managed-by'];
    there = { ...bare, metadata: { ...bare.metadata, labels } };
    await expect(contents().ensure(scope())).rejects.toThrow('app.kubernetes.io/managed-by=coppice: put it back');
  });
});
