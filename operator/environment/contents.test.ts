import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Environment } from '../../crds/environment.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { Namespace } from '../../kubernetes/resource-type.ts';
import { Contents } from './contents.ts';
import { environmentNamespaceObject } from './fence.ts';
import { EnvironmentScope } from './scope.ts';

const environment: Environment = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'shop-main', namespace: 'group-acme', uid: 'u1', generation: 1 },
  spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: true },
};

let writes: string[];
let there: Namespace | undefined;
let isWatched: boolean;

beforeEach(() => {
  writes = [];
  there = undefined;
  isWatched = true;
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
    patch: (_type: unknown, { name }: { name: string }) => {
      writes.push(`patch ${name}`);
      return Promise.resolve(there);
    },
    delete: (_type: unknown, { name }: { name: string }, { uid }: { uid: string }) => {
      writes.push(`delete ${name} ${uid}`);
      return Promise.resolve();
    },
  };
  const applier = {
    apply: (_type: unknown, { kind }: { kind: string }) => {
      writes.push(`apply ${kind}`);
      return Promise.resolve({});
    },
  };
  const namespaces = { get: () => (isWatched ? there : undefined), observe: () => undefined };
  const pullSecret = () => Promise.resolve({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'registry' } });
  const fence = {
    ...{ builderNamespace: 'builders', buildkitdPort: 1234, gitPorts: [443] },
    ...{ quota: {}, defaultRequests: {}, defaultLimits: {} },
  };
  return new Contents(client as never, applier as never, namespaces as never, { fence, pullSecret });
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
    expect(writes.slice(0, 2)).toEqual(['apply ResourceQuota', 'apply LimitRange']);
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
  const inNamespace = (uid: string) => {
    there = { ...own(), metadata: { ...own().metadata, uid } };
  };
  /** Looks at it as the next reconcile does, which finds the status that the one before wrote. */
  const next = (before: EnvironmentScope) =>
    new EnvironmentScope({ ...structuredClone(environment), status: before.status }, () => new Date());

  test('is applied once: the status remembers it', async () => {
    inNamespace('ns-1');
    const first = scope();
    await contents().ensure(first);
    writes = [];
    await contents().ensure(next(first));
    expect(writes).toEqual([]);
  });

  test('is applied to another namespace of the name, and remembered there', async () => {
    inNamespace('ns-1');
    const first = scope();
    await contents().ensure(first);
    inNamespace('ns-2');
    writes = [];
    const second = next(first);
    await contents().ensure(second);
    expect(writes).toContain('apply NetworkPolicy');
    writes = [];
    await contents().ensure(next(second));
    expect(writes).toEqual([]);
  });
});
