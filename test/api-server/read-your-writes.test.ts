import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { Sessions } from '../../api/auth/sessions.ts';
import { INDEXES, type ClusterRequests } from '../../api/cluster/caches.ts';
import { FreshCache } from '../../api/cluster/fresh-cache.ts';
import { createApp } from '../../api/app.ts';
import { FakeRedis } from '../../api/testing/fake-redis.ts';
import { testOptions, UNLIMITED } from '../../api/testing/test-options.ts';
import { userName, userSecret } from '../../api/user-records/user-record.ts';
import { API_GROUP } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, type ReusableEnvironment } from '../../crds/reusable-environment.ts';
import { ClusterClient } from '../../kubernetes/client.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { listAll, listWatch } from '../../kubernetes/list-watch.ts';
import type { IndexFunction } from '../../kubernetes/object-store.ts';
import {
  apiVersionOf,
  Namespace,
  Secret,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { deleteNamespace, deleteWidgetType, eventually, randomName, testClient, testKubeConfig } from './api-server.ts';
import { createOwnType } from './own-types.ts';
import { proxied, type TcpProxy } from './tcp-proxy.ts';

/** Coppice's kinds in an API group of the test's own, which no operator watches. */
const apiGroup = `${randomName('replicas')}.example.org`;
const own = <T extends KubernetesObject>(type: ResourceType<T>): ResourceType<T> =>
  type.group === API_GROUP ? { ...type, group: apiGroup } : type;
const groups: ResourceType<Group> = own(GROUP);
const repositories: ResourceType<Repository> = own(REPOSITORY);
const environments: ResourceType<Environment> = own(ENVIRONMENT);
const reusables: ResourceType<ReusableEnvironment> = own(REUSABLE_ENVIRONMENT);
const types = [groups, repositories, environments, reusables];

/** One of two replicas of the API with one API server and one Redis. */
interface Replica {
  app: ReturnType<typeof createApp>;
  lists: () => number;
  stop: () => Promise<void>;
}

let client: ClusterClient;
let proxy: TcpProxy;
let redis: FakeRedis;
let here: Replica;
let there: Replica;
let usersNamespace: string;
let token: string;
let bobsToken: string;
let group: string;
const namespaces: string[] = [];

beforeAll(async () => {
  client = testClient();
  await Promise.all(types.map((type) => createOwnType(client, type)));
  usersNamespace = randomName('users');
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: usersNamespace } });
  redis = new FakeRedis(Date.now);
  [token, bobsToken] = await Promise.all([login('alice@example.com'), login('bob@example.com')]);
  const config = testKubeConfig();
  proxy = await proxied(config);
  const watching = new ClusterClient(config);
  here = await replica(client);
  there = await replica(watching);
  const { stop } = there;
  there.stop = async () => {
    await stop();
    watching.close();
  };
}, 60_000);

afterAll(async () => {
  await Promise.all([here, there].map((one) => one.stop()));
  await proxy.stop();
  await releaseEnvironments();
  await Promise.all(types.map((type) => deleteWidgetType(client, type)));
  await Promise.all([usersNamespace, ...namespaces].map((name) => deleteNamespace(client, name)));
  client.close();
});

/** Removes the finalizer with which the API creates Environments: no operator removes it in this API group. */
async function releaseEnvironments(): Promise<void> {
  const { items } = await listAll(listWatch<Environment>(client, environments), AbortSignal.timeout(5000));
  const release = ({ metadata: { namespace, name } }: Environment) =>
    client.patch(environments, { namespace, name }, { metadata: { finalizers: null } });
  await Promise.all(items.map(release));
}

/** A group with a repository, created as the REST API does, and known to both replicas. */
beforeEach(async () => {
  group = randomName('acme');
  const labels = { [LABELS.managedBy]: MANAGED_BY };
  const namespace = groupNamespace(group);
  namespaces.push(namespace);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await client.create<Group>(groups, {
    apiVersion: apiVersionOf(groups),
    kind: 'Group',
    metadata: { name: group, labels },
    spec: { members: ['alice@example.com', 'bob@example.com'] },
  });
  await client.create<Repository>(repositories, {
    apiVersion: apiVersionOf(repositories),
    kind: 'Repository',
    metadata: { namespace, name: 'shop', labels },
    spec: { type: 'generic', generic: { origin: 'https://git.example/shop.git' } },
  });
  for (const one of [here, there]) {
    await eventually(
      () => call(one, 'get', `/api/repository/${group}.shop`).expect(200),
      'a replica sees the repository',
    );
  }
});

async function login(email: string): Promise<string> {
  const user = { accountId: email, email, passwordHash: 'none', verified: true };
  await client.create(Secret, userSecret(user, usersNamespace));
  const sessions = new Sessions(redis, Date.now, randomBytes);
  return sessions.create({ userName: userName(email), accountId: email });
}

/** @param watching the client whose watches fill the caches; lists and writes do not use it. */
async function replica(watching: ClusterClient): Promise<Replica> {
  let lists = 0;
  const informers: { start: () => void; stop: () => Promise<void>; whenSynced: () => Promise<void> }[] = [];
  const cache = <T extends KubernetesObject>(type: ResourceType<T>, index: Record<string, IndexFunction<T>>) => {
    const source = listWatch<T>(watching, type, type.kind === 'Secret' ? { namespace: usersNamespace } : {});
    const informer = new Informer<T>({ name: type.kind, source, indexes: index, logger: silentLogger });
    informers.push(informer);
    const list = () => {
      lists++;
      return listAll<T>(listWatch<T>(client, type), AbortSignal.timeout(5000));
    };
    return new FreshCache<T>({ informer, indexes: index, list });
  };
  const caches = {
    groups: cache<Group>(groups, INDEXES.groups),
    repositories: cache<Repository>(repositories, INDEXES.repositories),
    environments: cache<Environment>(environments, INDEXES.environments),
    reusables: cache<ReusableEnvironment>(reusables, INDEXES.reusables),
    users: cache<Secret>(Secret, {}),
  };
  for (const informer of informers) informer.start();
  await Promise.all(informers.map((informer) => informer.whenSynced()));
  const app = createApp(testOptions({ cluster: ownWriter(), caches, redis, config: { ...UNLIMITED, usersNamespace } }));
  const stop = async () => {
    await Promise.all(informers.map((informer) => informer.stop()));
  };
  return { app, lists: () => lists, stop };
}

/** Returns a client of the API server that writes Coppice's kinds in the test's own API group. */
function ownWriter(): ClusterRequests {
  return {
    find: (type, at) => client.find(own(type), at),
    create: (type, object) => client.create(own(type), { ...object, apiVersion: apiVersionOf(own(type)) }),
    patch: (type, at, patch, options) => client.patch(own(type), at, patch, options),
    delete: (type, at, options) => client.delete(own(type), at, options),
  };
}

type Method = 'get' | 'post' | 'delete';
function call({ app }: Replica, method: Method, path: string, body: object = {}, who = token) {
  const sent = request(app)[method](path).set('x-service-token', who);
  return method === 'get' ? sent : sent.send(body);
}

/** Writes at one replica and reads at the other, as one user. */
async function journey(round: number): Promise<void> {
  const repository = `/api/repository/${group}.shop`;
  const name = `The shop ${round}`;
  await call(here, 'post', repository, { name }).expect(200);
  expect((await call(there, 'get', repository)).body).toMatchObject({ name });
  expect((await call(there, 'get', `/api/group/${group}`)).body).toMatchObject({ repositories: [{ name }] });

  const gitRef = { name: `feature-${round}`, type: 'branch' };
  const spawned = await call(here, 'post', `${repository}/spawn`, { gitRef }).expect(201);
  const { id } = spawned.body as { id: string };
  await call(there, 'get', `/api/environment/${id}?build=false`).expect(200);
  expect((await call(there, 'get', repository)).body).toMatchObject({
    environments: expect.arrayContaining([expect.objectContaining({ id })]),
  });
  await call(there, 'post', `/api/environment/${id}/ttl`, { ttl: 60 + round }).expect(200);
  expect((await call(here, 'get', `/api/environment/${id}?build=false`)).body).toMatchObject({ ttl: 60 + round });

  const members = `/api/group/${group}/members`;
  await call(here, 'post', members, { name: `carol-${round}@example.com` }).expect(201);
  expect((await call(there, 'get', `/api/group/${group}/settings`)).text).toContain(`carol-${round}@`);
}

test('reads at one replica what was written at the other without lists while both watches run', async () => {
  const before = here.lists() + there.lists();
  for (let round = 0; round < 5; round++) await journey(round);
  expect(here.lists() + there.lists()).toBe(before);
});

describe('with one delayed watch', () => {
  beforeEach(() => {
    proxy.hang();
  });

  afterEach(() => {
    proxy.cut();
  });

  test('reads what was written at the other', async () => {
    const before = there.lists();
    await journey(0);
    expect(there.lists()).toBeGreaterThan(before);
  });

  test('does not return what was deleted', async () => {
    await call(here, 'delete', `/api/repository/${group}.shop`).expect(202);
    await call(there, 'get', `/api/repository/${group}.shop`).expect(404);
    await call(here, 'delete', `/api/group/${group}`).expect(202);
    await call(there, 'get', `/api/group/${group}`).expect(404);
    expect((await call(there, 'get', '/api/groups')).text).not.toContain(group);
  });

  test('returns at neither replica what was deleted at the delayed one', async () => {
    await call(there, 'delete', `/api/repository/${group}.shop`).expect(202);
    await call(there, 'get', `/api/repository/${group}.shop`).expect(404);
    await call(here, 'get', `/api/repository/${group}.shop`).expect(404);
  });

  test('does not wait for writes of others', async () => {
    const before = there.lists();
    await call(here, 'post', `/api/repository/${group}.shop`, { name: 'New' }).expect(200);
    const answer = await call(there, 'get', `/api/repository/${group}.shop`, {}, bobsToken).expect(200);
    expect(answer.body).toMatchObject({ name: 'shop' });
    expect(there.lists()).toBe(before);
  });
});
