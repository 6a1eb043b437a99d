import { beforeEach, describe, expect, test } from '@jest/globals';
import { ANNOTATIONS } from '../../../crds/labels.ts';
import { Applier } from '../../../kubernetes/apply.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import {
  Deployment,
  type EndpointSlice,
  HttpRoute,
  Ingress,
  keyOf,
  Middleware,
  PersistentVolumeClaim,
  type Job,
  type KubernetesObject,
  type ObjectName,
  type Pod,
  type ResourceType,
} from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import type { AccessEnforcement } from '../objects/access-enforcement.ts';
import { sampleContext, sampleService, SAMPLE_SETTINGS } from '../objects/testing/sample-context.ts';
import { hostsOf, type Published } from './taken-hosts.ts';
import { WorkloadSet, type WorkloadCaches } from './workload-set.ts';

/** A cluster with one namespace, which stores objects and records the requests. */
class FakeCluster {
  readonly objects = new Map<string, KubernetesObject>();
  writes: string[] = [];
  events: object[] = [];
  #version = 0;

  readonly client = {
    list: async () => ({ items: this.events }),
    create: async <T extends KubernetesObject>(type: ResourceType<T>, object: T) => this.#put('create', type, object),
    apply: async <T extends KubernetesObject>(type: ResourceType<T>, object: T) => this.#put('apply', type, object),
    replace: async <T extends KubernetesObject>(type: ResourceType<T>, object: T) => this.#put('replace', type, object),
    get: async <T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName) => this.find(type, at.name)!,
    patch: async <T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName, patch: object) => {
      const held = this.find(type, at.name)!;
      const { metadata: given, spec } = patch as { metadata?: { annotations: Record<string, string> }; spec?: object };
      const { spec: former } = held as { spec?: object };
      const metadata = { ...held.metadata, annotations: { ...held.metadata.annotations, ...given?.annotations } };
      return this.#put('patch', type, { ...held, ...(spec && { spec: { ...former, ...spec } }), metadata });
    },
    delete: async (type: ResourceType, at: ObjectName) => {
      this.writes.push(`delete ${type.kind}/${at.name}`);
      this.objects.delete(`${type.kind}/${at.name}`);
    },
  };

  find<T extends KubernetesObject>({ kind }: ResourceType<T>, name: string): T | undefined {
    return this.objects.get(`${kind}/${name}`) as T | undefined;
  }

  of<T extends KubernetesObject>(kind: string): T[] {
    return [...this.objects].filter(([key]) => key.startsWith(`${kind}/`)).map(([, object]) => object as T);
  }

  cache<T extends KubernetesObject>(kind: string): Informer<T> {
    const made: Pick<Informer<T>, 'get' | 'byIndex' | 'observe' | 'list'> = {
      get: (key) => this.of<T>(kind).find((object) => keyOf(object) === key),
      byIndex: (index, value) =>
        this.of<T>(kind).filter((object) => index !== 'host' || hostsOf(object as Published).includes(value)),
      observe: () => undefined,
      list: () => this.of<T>(kind),
    };
    return made as Informer<T>;
  }

  /** Changes an object as a controller or a node would. */
  change<T extends KubernetesObject>(kind: string, name: string, change: (object: T) => Partial<T>): void {
    const held = this.objects.get(`${kind}/${name}`) as T;
    this.objects.set(`${kind}/${name}`, { ...held, ...change(held) });
  }

  up(name: string): void {
    this.change<Deployment>('Deployment', name, ({ spec }) => {
      const replicas = spec?.replicas ?? 1;
      return { status: { replicas, updatedReplicas: replicas, availableReplicas: replicas } };
    });
  }

  endJobs(type: 'Complete' | 'Failed'): void {
    for (const { metadata } of this.of<Job>('Job')) {
      this.change<Job>('Job', metadata.name, () => ({ status: { conditions: [{ type, status: 'True' }] } }));
    }
  }

  #put<T extends KubernetesObject>(verb: string, type: ResourceType<T>, object: T): T {
    const { kind } = type;
    this.writes.push(`${verb} ${kind}/${object.metadata.name}`);
    const held = this.find(type, object.metadata.name);
    const stored = { ...held, ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } };
    this.objects.set(`${kind}/${object.metadata.name}`, stored);
    return stored;
  }
}

let cluster: FakeCluster;
let workloads: WorkloadSet;
/** Where hosts are attached to a Gateway. */
let attached: WorkloadSet;

beforeEach(() => {
  cluster = new FakeCluster();
  const applier = new Applier({
    client: cluster.client,
    fieldManager: 'test',
    hashAnnotation: ANNOTATIONS.appliedHash,
  });
  const caches: WorkloadCaches = {
    deployments: cluster.cache('Deployment'),
    services: cluster.cache('Service'),
    ingresses: cluster.cache('Ingress'),
    jobs: cluster.cache('Job'),
    networkPolicies: cluster.cache('NetworkPolicy'),
    volumeClaims: cluster.cache('PersistentVolumeClaim'),
    pods: cluster.cache('Pod'),
    endpointSlices: cluster.cache('EndpointSlice'),
    wakerPods: cluster.cache('Waker'),
  };
  workloads = new WorkloadSet(cluster.client as never, applier, caches, SAMPLE_SETTINGS);
  const routed = { ...caches, httpRoutes: cluster.cache<HttpRoute>('HTTPRoute') };
  const ingress = { ...SAMPLE_SETTINGS.ingress, parentRefs: [{ name: 'web', namespace: 'traefik' }] };
  attached = new WorkloadSet(cluster.client as never, applier, routed, { ...SAMPLE_SETTINGS, ingress });
});

const db = sampleService({
  name: 'db',
  mounts: [{ type: 'volume', volume: 'db', target: '/data', readOnly: false }],
});
const migrate = sampleService({ name: 'migrate', runs: 'once', dependsOn: [{ service: 'db', condition: 'healthy' }] });
const api = sampleService({ dependsOn: [{ service: 'migrate', condition: 'completed' }] });
const inputOf = (services: Service[], run = '1') => sampleContext({ services, volumes: [{ name: 'db' }] }, { run });
const input = inputOf([api, db, migrate]);

const jobs = () => cluster.of<Job>('Job').map(({ metadata }) => metadata.name);
const replicasOf = (name: string) => cluster.find(Deployment, name)?.spec?.replicas;

describe('stopping', () => {
  const web = sampleService({ name: 'web', dependsOn: [{ service: 'api', condition: 'started' }] });
  const all = inputOf([api, db, migrate, web]);
  /** Ends the pods of a Deployment that is scaled to 0, as its controller does. */
  const down = (name: string) =>
    cluster.change<Deployment>('Deployment', name, () => ({
      status: { replicas: 0, updatedReplicas: 0, availableReplicas: 0 },
    }));

  beforeEach(async () => {
    await workloads.rollOut(all);
    cluster.up('db');
    await workloads.rollOut(all);
    cluster.endJobs('Complete');
    await workloads.rollOut(all);
    cluster.up('api');
    await workloads.rollOut(all);
    cluster.up('web');
    expect((await workloads.rollOut(all)).done).toBe(true);
  });

  test('scales services down in reverse order of depends_on, and runs no job', async () => {
    const made = jobs();
    expect((await workloads.stop(all)).running).toEqual(['api', 'db', 'web']);
    expect([replicasOf('db'), replicasOf('api'), replicasOf('web')]).toEqual([1, 1, 0]);
    down('web');
    expect((await workloads.stop(all)).running).toEqual(['api', 'db']);
    down('api');
    expect((await workloads.stop(all)).running).toEqual(['db']);
    down('db');
    const { running, services } = await workloads.stop(all);
    expect(running).toEqual([]);
    expect(services.map(({ name, ready }) => [name, ready])).toEqual([
      ['api', false],
      ['db', false],
      ['migrate', true],
      ['web', false],
    ]);
    expect(jobs()).toEqual(made);
  });

  test('writes nothing once they are stopped, and starts them in order without their jobs', async () => {
    for (const name of ['web', 'api', 'db']) {
      await workloads.stop(all);
      down(name);
    }
    await workloads.stop(all);
    cluster.writes = [];
    await workloads.stop(all);
    expect(cluster.writes).toEqual([]);
    await workloads.rollOut(all);
    expect(cluster.writes).toEqual(['apply Deployment/db']);
    cluster.up('db');
    await workloads.rollOut(all);
    cluster.up('api');
    await workloads.rollOut(all);
    expect(cluster.writes).toEqual(['apply Deployment/db', 'apply Deployment/api', 'apply Deployment/web']);
  });

  test('waits for terminating pods of dependents', async () => {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web-1',
        namespace: all.namespace,
        labels: { 'coppice.dev/service': 'web' },
        deletionTimestamp: '2026-01-01T00:00:00Z',
      },
    };
    cluster.objects.set('Pod/web-1', pod);
    await workloads.stop(all);
    down('web');
    expect((await workloads.stop(all)).running).toContain('web');
    expect(replicasOf('api')).toBe(1);
  });
});

describe('the waker', () => {
  const routes = [{ path: '/', service: 'api', port: 80 }];
  const shown = sampleContext({ services: [sampleService()], publicRoutes: routes });
  const waker = (name: string, podIP: string, isReady = true): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'coppice-system' },
    status: { podIP, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  });
  const slices = () => cluster.of<EndpointSlice>('EndpointSlice');

  beforeEach(async () => {
    cluster.objects.set('Waker/a', waker('coppice-waker-a', '10.0.0.1'));
    cluster.objects.set('Waker/b', waker('coppice-waker-b', '10.0.0.2', false));
    await workloads.rollOut(shown);
    cluster.up('api');
    await workloads.rollOut(shown);
    cluster.writes = [];
  });

  test('is behind public services before they stop, with its ready pods and the ports of the Service', async () => {
    await workloads.stop(shown);
    expect(cluster.writes).toEqual(['apply EndpointSlice/waker-api', 'apply Deployment/api']);
    expect(slices()).toMatchObject([
      {
        metadata: { labels: { 'kubernetes.io/service-name': 'api' } },
        endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
        ports: [{ name: 'tcp-80', port: 3002, protocol: 'TCP' }],
      },
    ]);
    cluster.objects.set('Waker/b', waker('coppice-waker-b', '10.0.0.2'));
    await workloads.stop(shown);
    expect(slices()[0]?.endpoints?.map(({ addresses }) => addresses)).toEqual([['10.0.0.1'], ['10.0.0.2']]);
  });

  test('is behind them before they leave the ports of visitors to it', async () => {
    await workloads.rollOut({ ...shown, visits: 'direct' });
    cluster.writes = [];
    await workloads.stop({ ...shown, visits: 'watched' });
    expect(cluster.writes.slice(0, 2)).toEqual(['apply EndpointSlice/waker-api', 'apply Service/api']);
  });

  test('is taken away once the own pods of a service are behind it', async () => {
    await workloads.stop(shown);
    cluster.change<Deployment>('Deployment', 'api', () => ({ status: {} }));
    expect(await workloads.rollOut(shown)).toMatchObject({ done: false, wakers: 'leaving' });
    cluster.up('api');
    expect(await workloads.rollOut(shown)).toMatchObject({ done: true, wakers: 'leaving' });
    const own = { ports: [{ name: 'tcp-80', port: 80 }], endpoints: [{ addresses: ['10.0.1.1'], conditions: {} }] };
    cluster.events = [own];
    expect(await workloads.rollOut(shown)).toMatchObject({ done: true, wakers: 'leaving' });
    expect(slices()).toEqual([]);
    expect(await workloads.rollOut(shown)).toMatchObject({ done: true, wakers: 'none' });
  });

  test('keeps its slice while none of its pods is ready', async () => {
    await workloads.stop(shown);
    cluster.objects.delete('Waker/a');
    await workloads.stop(shown);
    expect(slices()[0]?.endpoints).toHaveLength(1);
  });
});

describe('a host that another environment has', () => {
  const routes = [
    { path: '/', service: 'api', port: 80 },
    { path: '/', service: 'api', port: 80, alias: 'admin' },
  ];
  const shown = sampleContext({ services: [api], publicRoutes: routes });
  const other = (host: string) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'web', namespace: 'env-other', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { rules: [{ host }] },
  });
  const hosts = () => cluster.find(Ingress, 'web')?.spec?.rules?.map(({ host }) => host);

  test('is not published but awaited, and the other hosts are published', async () => {
    cluster.objects.set('Ingress/other', other('shop-main--acme.env.localhost'));
    await expect(workloads.setUp(shown)).rejects.toMatchObject({
      reason: 'HostTaken',
      message: expect.stringContaining('shop-main--acme.env.localhost') as unknown,
    });
    expect(hosts()).toEqual(['admin---shop-main--acme.env.localhost']);
  });

  test('is published once the other environment is gone', async () => {
    cluster.objects.set('Ingress/other', other('shop-main--acme.env.localhost'));
    await expect(workloads.setUp(shown)).rejects.toThrow('another environment already answers at');
    cluster.objects.delete('Ingress/other');
    await workloads.setUp(shown);
    expect(hosts()).toEqual(['shop-main--acme.env.localhost', 'admin---shop-main--acme.env.localhost']);
  });
});

describe('the hosts of an environment that attaches to a Gateway', () => {
  const aliased = { path: '/', service: 'api', port: 80, alias: 'admin' };
  const shown = sampleContext({ services: [api], publicRoutes: [{ path: '/', service: 'api', port: 80 }, aliased] });
  const host = 'shop-main--acme.env.localhost';
  const other: HttpRoute = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'web', namespace: 'env-other', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { parentRefs: [], hostnames: [host], rules: [] },
  };
  const hosts = () => cluster.of<HttpRoute>('HTTPRoute').flatMap(({ spec }) => spec.hostnames);

  test('are published by HTTPRoutes, which replace an Ingress only when they are there', async () => {
    await workloads.setUp(shown);
    await attached.setUp(shown);
    expect(hosts()).toEqual([host, `admin---${host}`]);
    expect(cluster.find(Ingress, 'web')).toBeDefined();
    await attached.prune(shown);
    expect(cluster.find(Ingress, 'web')).toBeUndefined();
    expect(hosts()).toHaveLength(2);
  });

  test('are published again when somebody deletes or changes a route, and else written once', async () => {
    await attached.setUp(shown);
    cluster.writes = [];
    await attached.setUp(shown);
    expect(cluster.writes).toEqual([]);
    cluster.objects.delete('HTTPRoute/web');
    cluster.change<HttpRoute>('HTTPRoute', 'web-admin', ({ spec }) => ({
      spec: { ...spec, hostnames: ['other.example'] },
    }));
    await attached.setUp(shown);
    expect(hosts().sort()).toEqual([`admin---${host}`, host]);
  });

  test('are not published where another environment has them, and the others are', async () => {
    cluster.objects.set('HTTPRoute/other', other);
    await expect(attached.setUp(shown)).rejects.toMatchObject({ reason: 'HostTaken' });
    expect(cluster.find(HttpRoute, 'web')).toBeUndefined();
    expect(cluster.find(HttpRoute, 'web-admin')).toBeDefined();
  });

  test('are deleted with the route of the service file', async () => {
    await attached.setUp(shown);
    await attached.prune(sampleContext({ services: [api], publicRoutes: [aliased] }));
    expect(hosts()).toEqual([`admin---${host}`]);
  });

  test('are awaited while the Gateway refuses them', async () => {
    const publicRoutes = [{ path: '/', service: 'api', port: 80 }];
    const only = sampleContext({ services: [sampleService()], publicRoutes });
    await attached.rollOut(only);
    cluster.up('api');
    expect((await attached.rollOut(only)).done).toBe(true);
    const refused = { type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'no listener' };
    const status = { parents: [{ parentRef: { name: 'web', namespace: 'traefik' }, conditions: [refused] }] };
    cluster.change<HttpRoute>('HTTPRoute', 'web', () => ({ status }));
    expect(await attached.rollOut(only)).toMatchObject({
      done: false,
      waitingFor: [`${host}: the Gateway traefik/web refuses the route (NotAllowedByListeners): no listener`],
    });
  });
});

test('sets up services without running them, and writes nothing a second time', async () => {
  const { services } = await workloads.setUp(input);
  expect(services.map(({ name, ready }) => [name, ready])).toEqual([
    ['api', false],
    ['db', false],
    ['migrate', false],
  ]);
  expect([replicasOf('api'), replicasOf('db')]).toEqual([0, 0]);
  expect(jobs()).toEqual([]);
  expect(cluster.find(PersistentVolumeClaim, 'volume-db')).toBeDefined();
  cluster.writes = [];
  await workloads.setUp(input);
  expect(cluster.writes).toEqual([]);
});

test('sets up two services with a request for each object, and replaces only policies that change', async () => {
  const routes = [{ path: '/', service: 'web', port: 80 }];
  const web = sampleService({ name: 'web', networks: ['default'] });
  const other = sampleService({ name: 'other', networks: ['default'] });
  await workloads.setUp(sampleContext({ services: [web, other], publicRoutes: routes }));
  expect(cluster.writes.toSorted()).toEqual([
    ...['apply Deployment/other', 'apply Deployment/web', 'apply Ingress/web'],
    ...['apply Service/other', 'apply Service/web'],
    ...['create NetworkPolicy/network-default', 'create NetworkPolicy/public-web'],
  ]);
  cluster.writes = [];
  const moved = [...routes, { path: '/admin', service: 'web', port: 81 }];
  await workloads.setUp(sampleContext({ services: [web, other], publicRoutes: moved }));
  expect(cluster.writes.filter((write) => write.includes('NetworkPolicy'))).toEqual([
    'replace NetworkPolicy/public-web',
  ]);
});

test('reports why the Job controller creates no pod of a job', async () => {
  await workloads.setUp(input);
  await workloads.rollOut(input);
  cluster.up('db');
  await workloads.rollOut(input);
  const [name = ''] = jobs();
  cluster.change<Job>('Job', name, () => ({ status: { startTime: '2026-01-01T00:00:00Z' } }));
  const regarding = { kind: 'Job', name };
  const note = 'pods "x" is forbidden: exceeded quota: environment, requested: pods=1, used: pods=5, limited: pods=5';
  cluster.events = [{ regarding, note }];
  const { waitingFor } = await workloads.rollOut(input);
  expect(waitingFor).toContainEqual(expect.stringMatching(/^migrate: the environment's quota is used up .*pods=1/));
});

test('starts services in the order of their dependencies, and then writes nothing', async () => {
  await workloads.setUp(input);
  const first = await workloads.rollOut(input);
  expect([replicasOf('db'), replicasOf('api'), jobs().length]).toEqual([1, 0, 0]);
  expect(first.waitingFor).toEqual(['api: waits for migrate (completed)', 'db', 'migrate: waits for db (healthy)']);
  cluster.up('db');
  await workloads.rollOut(input);
  expect([replicasOf('api'), jobs().length]).toEqual([0, 1]);
  cluster.endJobs('Complete');
  await workloads.rollOut(input);
  cluster.up('api');
  expect(await workloads.rollOut(input)).toMatchObject({ done: true, waitingFor: [], failures: [] });
  cluster.writes = [];
  await workloads.rollOut(input);
  await workloads.prune(input);
  expect(cluster.writes).toEqual([]);
});

test('starts nothing beside a terminating pod of its dependency, although that is ready', async () => {
  const leaving: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'old', labels: { 'coppice.dev/service': 'db' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  cluster.objects.set('Pod/old', leaving);
  await workloads.rollOut(input);
  cluster.up('db');
  const { services } = await workloads.rollOut(input);
  expect(services).toContainEqual(expect.objectContaining({ name: 'db', ready: true }));
  expect(jobs()).toEqual([]);
  cluster.objects.delete('Pod/old');
  await workloads.rollOut(input);
  expect(jobs()).toHaveLength(1);
});

test('ignores a terminating pod on which nothing depends', async () => {
  const alone = inputOf([db]);
  await workloads.rollOut(alone);
  cluster.up('db');
  cluster.change<Deployment>('Deployment', 'db', ({ status }) => ({ status: { ...status, terminatingReplicas: 1 } }));
  expect((await workloads.rollOut(alone)).done).toBe(true);
});

describe('a service that crashes', () => {
  const worker = sampleService({ name: 'worker' });
  const web = sampleService({ name: 'web', dependsOn: [{ service: 'worker', condition: 'started' }] });
  const both = inputOf([worker, web]);
  const recoversAt = new Date(both.now.getTime() + 10_000);

  const crashed = (state: object): Pod =>
    ({
      metadata: { name: 'worker', labels: { 'coppice.dev/service': 'worker' } },
      spec: { containers: [{ name: 'worker' }] },
      status: {
        containerStatuses: [
          { name: 'worker', ready: true, restartCount: 1, state, lastState: { terminated: { exitCode: 3 } } },
        ],
      },
    }) as unknown as Pod;

  beforeEach(async () => {
    await workloads.rollOut(both);
    cluster.up('worker');
    await workloads.rollOut(both);
    cluster.up('web');
  });

  test('is not ready while it has just been restarted, although its Deployment is available', async () => {
    cluster.objects.set('Pod/worker', crashed({ running: { startedAt: both.now.toISOString() } }));
    expect(await workloads.rollOut(both)).toMatchObject({
      ...{ done: false, recoversAt, waitingFor: ['worker: it exits and is restarted: exit code 3'] },
    });
    const later = await workloads.rollOut({ ...both, now: recoversAt });
    expect(later).toMatchObject({ done: true, recoversAt: undefined });
  });

  test('is not ready while its Deployment still counts a pod that has crashed', async () => {
    cluster.objects.set('Pod/worker', crashed({ waiting: { reason: 'CrashLoopBackOff' } }));
    expect(await workloads.rollOut(both)).toMatchObject({ done: false, recoversAt: undefined });
  });

  test('lets services start that require only that it has started', async () => {
    cluster.objects.delete('Deployment/web');
    cluster.objects.set('Pod/worker', crashed({ running: { startedAt: both.now.toISOString() } }));
    await workloads.rollOut(both);
    expect(replicasOf('web')).toBe(1);
  });
});

test('keeps running services as reported when their dependency fails later', async () => {
  await workloads.rollOut(input);
  cluster.up('db');
  await workloads.rollOut(input);
  cluster.endJobs('Complete');
  await workloads.rollOut(input);
  cluster.up('api');
  cluster.change<Deployment>('Deployment', 'db', () => ({ status: {} }));
  const { services } = await workloads.rollOut(input);
  expect(services.filter(({ ready }) => !ready).map(({ name }) => name)).toEqual(['db']);
});

describe('jobs', () => {
  const only = inputOf([sampleService({ name: 'migrate', runs: 'once' })]);

  test('reports the last output of a failed one', async () => {
    await workloads.rollOut(only);
    const [name = ''] = jobs();
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'env-x', labels: { 'batch.kubernetes.io/job-name': name } },
      status: { phase: 'Running' },
    };
    cluster.objects.set('Pod/p', pod);
    cluster.endJobs('Failed');
    expect((await workloads.rollOut(only)).failures).toEqual([]);
    const state = { terminated: { exitCode: 4, message: 'no table' } };
    cluster.objects.set('Pod/p', {
      ...pod,
      status: { phase: 'Failed', containerStatuses: [{ name: 'migrate', state }] },
    } as Pod);
    expect((await workloads.rollOut(only)).failures).toEqual(['migrate: it has failed: exit code 4: no table']);
  });

  test('reports one in progress, and its deadline', async () => {
    await workloads.rollOut(only);
    const [name = ''] = jobs();
    cluster.change<Job>('Job', name, () => ({ status: { startTime: '2026-01-01T00:00:00Z' } }));
    const labels = { 'batch.kubernetes.io/job-name': name, 'coppice.dev/service': 'migrate' };
    const containerStatuses = [
      { name: 'migrate', ready: false, image: '', imageID: '', restartCount: 0, state: { running: {} } },
    ];
    cluster.objects.set('Pod/p', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'env-x', labels },
      status: { phase: 'Running', containerStatuses },
    } as Pod);
    const { waitingFor, jobsEndAt } = await workloads.rollOut(only);
    expect(waitingFor).toEqual(['migrate: it still runs']);
    expect(jobsEndAt?.toISOString()).toBe('2026-01-01T00:30:00.000Z');
  });

  test('reports one that took too long with its deadline', async () => {
    await workloads.rollOut(only);
    const [name = ''] = jobs();
    const conditions = [{ type: 'Failed', status: 'True', reason: 'DeadlineExceeded' }];
    cluster.change<Job>('Job', name, () => ({ status: { conditions } }));
    expect((await workloads.rollOut(only)).failures).toEqual([
      expect.stringContaining('migrate: it took longer than 1800 s and was terminated: '),
    ]);
  });

  test('run again with the next build, after the former ones have ended', async () => {
    await workloads.rollOut(only);
    const former = jobs();
    const next = { ...only, run: '2' };
    await workloads.rollOut(next);
    expect(cluster.writes.at(-1)).toBe(`delete Job/${former[0] ?? ''}`);
    await workloads.rollOut(next);
    expect(jobs()).toHaveLength(1);
    expect(jobs()).not.toEqual(former);
  });

  test("of former builds are deleted, but not the build's own Job", async () => {
    await workloads.rollOut(only);
    cluster.endJobs('Complete');
    cluster.objects.set('Job/build-1', { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'build-1' } });
    await workloads.rollOut({ ...only, run: '2' });
    expect(jobs()).toHaveLength(3);
    await workloads.prune({ ...only, run: '2' });
    expect(jobs()).toHaveLength(2);
    expect(jobs()).toContain('build-1');
  });
});

describe('restricted access', () => {
  const accessMiddleware = 'coppice-access@file';
  const annotation = 'traefik.ingress.kubernetes.io/router.middlewares';
  const routes = [{ path: '/', service: 'api', port: 80 }];
  const open = sampleContext({ services: [api], publicRoutes: routes });
  const members = { ...open, access: 'members' as const };
  const middleware = () => cluster.find(Ingress, 'web')?.metadata.annotations?.[annotation];
  let restricted: WorkloadSet;

  function restrictedBy(enforcement: AccessEnforcement, more: Partial<WorkloadCaches> = {}): WorkloadSet {
    const applier = new Applier({
      client: cluster.client,
      fieldManager: 'test',
      hashAnnotation: ANNOTATIONS.appliedHash,
    });
    const settings = { ...SAMPLE_SETTINGS, ingress: { ...SAMPLE_SETTINGS.ingress, enforcement } };
    const caches: WorkloadCaches = {
      ingresses: cluster.cache('Ingress'),
      deployments: cluster.cache('Deployment'),
      services: cluster.cache('Service'),
      jobs: cluster.cache('Job'),
      networkPolicies: cluster.cache('NetworkPolicy'),
      volumeClaims: cluster.cache('PersistentVolumeClaim'),
      pods: cluster.cache('Pod'),
      endpointSlices: cluster.cache('EndpointSlice'),
      wakerPods: cluster.cache('Waker'),
      ...more,
    };
    return new WorkloadSet(cluster.client as never, applier, caches, settings);
  }

  beforeEach(() => {
    restricted = restrictedBy({ by: 'traefik', middleware: accessMiddleware });
  });

  test('applies to an Ingress at once, and stays when the services are set up', async () => {
    await restricted.setUp(open);
    expect(middleware()).toBeUndefined();
    await restricted.restrict(members);
    expect(middleware()).toBe(accessMiddleware);
    await restricted.setUp(members);
    await restricted.prune(members);
    expect(middleware()).toBe(accessMiddleware);
    cluster.writes = [];
    await restricted.restrict(members);
    await restricted.setUp(members);
    expect(cluster.writes).toEqual([]);
  });

  test('is restored when somebody removes the annotation', async () => {
    await restricted.setUp(members);
    cluster.change<Ingress>('Ingress', 'web', ({ metadata }) => ({ metadata: { ...metadata, annotations: {} } }));
    await restricted.restrict(members);
    expect(middleware()).toBe(accessMiddleware);
  });

  test('is withdrawn when the services are set up as public', async () => {
    await restricted.setUp(members);
    await restricted.setUp(open);
    expect(middleware()).toBeUndefined();
  });

  test('by ingress-nginx has an entry without a login, as long as it is restricted', async () => {
    const nginx = restrictedBy({ by: 'ingress-nginx', host: 'coppice-access.coppice-system.svc.cluster.local' });
    const annotationsOf = (name: string) => cluster.find(Ingress, name)?.metadata.annotations ?? {};
    const isGuarded = (name: string) => 'nginx.ingress.kubernetes.io/auth-url' in annotationsOf(name);
    const objects = () => [...cluster.objects.keys()].filter((key) => /^(Ingress|Service)\//.test(key)).sort();
    await nginx.setUp(open);
    await nginx.restrict(members);
    expect(isGuarded('web')).toBe(true);
    await nginx.setUp(members);
    await nginx.restrict(members);
    await nginx.prune(members);
    expect([isGuarded('web'), isGuarded('web-access')]).toEqual([true, false]);
    expect(objects()).toEqual(['Ingress/web', 'Ingress/web-access', 'Service/api', 'Service/coppice-access']);
    await nginx.setUp(open);
    await nginx.prune(open);
    expect(isGuarded('web')).toBe(false);
    expect(objects()).toEqual(['Ingress/web', 'Service/api']);
  });

  test('at a Gateway applies to routes at once, after their middleware', async () => {
    const caches = {
      httpRoutes: cluster.cache<HttpRoute>('HTTPRoute'),
      middlewares: cluster.cache<Middleware>('Middleware'),
    };
    const gateway = restrictedBy({ by: 'traefik-gateway', forwardAuth: { address: 'http://coppice-access' } }, caches);
    const filters = () =>
      cluster.find(HttpRoute, 'web')?.spec.rules.map((rule) => rule.filters?.[0]?.extensionRef.name);
    await gateway.setUp(open);
    expect(filters()).toEqual([undefined]);
    cluster.writes = [];
    await gateway.restrict(members);
    expect(cluster.writes).toEqual(['apply Middleware/coppice-access', 'patch HTTPRoute/web']);
    expect(filters()).toEqual(['coppice-access']);
    await gateway.setUp(members);
    cluster.writes = [];
    await gateway.restrict(members);
    await gateway.setUp(members);
    await gateway.prune(members);
    expect(cluster.writes).toEqual([]);
    await gateway.setUp(open);
    await gateway.prune(open);
    expect(filters()).toEqual([undefined]);
    expect(cluster.find(Middleware, 'coppice-access')).toBeUndefined();
    await gateway.setUp(members);
    await gateway.unpublish(members.namespace);
    expect([cluster.find(HttpRoute, 'web'), cluster.find(Middleware, 'coppice-access')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('is not published where nothing enforces it', async () => {
    await workloads.setUp(open);
    await workloads.unpublish(open.namespace);
    await expect(workloads.setUp(members)).rejects.toThrow('is not published');
    expect(cluster.find(Ingress, 'web')).toBeUndefined();
  });
});

describe('a volume', () => {
  const seed = sampleService({ name: 'db-seed', runs: 'once per volume', seeds: 'db' });
  const seeded = (run: string) => inputOf([seed], run);
  const note = () =>
    cluster.find(PersistentVolumeClaim, 'volume-db')?.metadata.annotations?.['seed.coppice.dev/db-seed'];

  test('is filled once, when it is new', async () => {
    expect((await workloads.rollOut(seeded('1'))).done).toBe(false);
    expect(note()).toBe('pending');
    cluster.endJobs('Complete');
    expect((await workloads.rollOut(seeded('1'))).done).toBe(true);
    expect(note()).toBe('done');
    cluster.writes = [];
    expect((await workloads.rollOut(seeded('2'))).done).toBe(true);
    expect(cluster.writes).toEqual([]);
  });

  test('is filled again after a failure', async () => {
    await workloads.rollOut(seeded('1'));
    cluster.endJobs('Failed');
    expect((await workloads.rollOut(seeded('1'))).failures).toHaveLength(1);
    await workloads.rollOut(seeded('2'));
    expect(jobs()).toHaveLength(2);
  });

  test('that existed before it had a seed is left unchanged', async () => {
    await workloads.rollOut(inputOf([db]));
    expect((await workloads.rollOut(seeded('2'))).services).toMatchObject([{ name: 'db-seed', ready: true }]);
    expect(jobs()).toEqual([]);
  });

  test('is kept when the file no longer names it', async () => {
    await workloads.setUp(inputOf([db]));
    await workloads.prune(sampleContext({}));
    expect(cluster.find(PersistentVolumeClaim, 'volume-db')).toBeDefined();
    expect(cluster.of('Deployment')).toEqual([]);
    expect(cluster.of('NetworkPolicy')).toEqual([]);
  });
});
