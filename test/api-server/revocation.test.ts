import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { Sessions } from '../../api/auth/sessions.ts';
import { INDEXES } from '../../api/cluster/caches.ts';
import { FreshCache } from '../../api/cluster/fresh-cache.ts';
import { createApp } from '../../api/app.ts';
import { FakeCluster } from '../../api/testing/fake-cluster.ts';
import { fakeCaches } from '../../api/testing/test-api.ts';
import { testOptions, UNLIMITED, weakPasswords } from '../../api/testing/test-options.ts';
import { userName, userSecret } from '../../api/user-records/user-record.ts';
import { ClusterClient } from '../../kubernetes/client.ts';
import { systemClock } from '../../kubernetes/clock.ts';
import { Informer } from '../../kubernetes/informer.ts';
import { listWatch } from '../../kubernetes/list-watch.ts';
import { objectKey, Secret } from '../../kubernetes/resource-type.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { startRedis, type RedisClient, type TestRedis } from '../redis/start-redis.ts';
import { createNamespace, deleteNamespace, eventually, testClient, testKubeConfig } from './api-server.ts';
import { proxied, type TcpProxy } from './tcp-proxy.ts';

/** Two replicas of the API with one API server and one Redis; the watch of `there` can be delayed. */
let client: ClusterClient;
let watching: ClusterClient;
let proxy: TcpProxy;
let redisServer: TestRedis;
let namespace: string;
let here: Replica;
let there: Replica;

interface Replica {
  app: ReturnType<typeof createApp>;
  users: Informer<Secret>;
  redis: RedisClient;
}

const ann = { email: 'ann@example.com', password: 'correct horse' };

beforeAll(async () => {
  client = testClient();
  namespace = await createNamespace(client);
  redisServer = await startRedis();
  const config = testKubeConfig();
  proxy = await proxied(config);
  watching = new ClusterClient(config);
  here = await replica(client);
  there = await replica(watching);
}, 60_000);

afterAll(async () => {
  await Promise.all([here, there].map(({ users }) => users.stop()));
  await proxy.stop();
  await redisServer.stop();
  await deleteNamespace(client, namespace);
  client.close();
  watching.close();
});

let root: string;
beforeEach(async () => {
  await addUser(ann.email, ann.password);
  await addUser('root@example.com', 'correct horse');
  root = await login(here, { ...ann, email: 'root@example.com' });
});

afterEach(async () => {
  proxy.cut();
  for (const email of [ann.email, 'root@example.com']) {
    const at = { namespace, name: userName(email) };
    if (await client.find(Secret, at)) await client.delete(Secret, at);
    for (const { users } of [here, there]) {
      await eventually(() => expect(users.get(objectKey(namespace, at.name))).toBeUndefined(), 'the user is gone');
    }
  }
});

/** @param through the client by which its informer of users watches; reads and writes do not use it. */
async function replica(through: ClusterClient): Promise<Replica> {
  const users = new Informer<Secret>({
    name: 'User',
    source: listWatch<Secret>(through, Secret, { namespace }),
    indexes: INDEXES.users,
    logger: silentLogger,
  });
  users.start();
  await users.whenSynced();
  const others = new FakeCluster(systemClock);
  const redis = await redisServer.connect();
  const fresh = new FreshCache({
    informer: users,
    indexes: INDEXES.users,
    list: () => client.list<Secret>(Secret, { namespace }),
  });
  const caches = { ...fakeCaches(others), users: fresh };
  const app = createApp(
    testOptions({
      cluster: client,
      caches,
      redis,
      config: { ...UNLIMITED, usersNamespace: namespace },
    }),
  );
  return { app, users, redis };
}

/** An account that both replicas have in their caches. */
async function addUser(email: string, password: string): Promise<void> {
  const accountId = randomBytes(8).toString('hex');
  const record = { accountId, email, passwordHash: await weakPasswords.hash(password), verified: true };
  const { metadata } = await client.create(Secret, userSecret(record, namespace));
  for (const { users } of [here, there]) {
    await eventually(() => expect(users.get(objectKey(namespace, metadata.name))).toBeDefined(), 'the user is seen');
  }
}

function send({ app }: Replica, method: 'get' | 'post' | 'delete', path: string, token: string, body?: object) {
  return request(app)[method](path).set('x-service-token', token).send(body);
}

async function login({ app }: Replica, body: object): Promise<string> {
  const answer = await request(app).post('/api/user/login').send(body).expect(200);
  return (answer.body as { token: string }).token;
}

async function newToken(token: string, name: string): Promise<string> {
  const body = { name, expirationTime: '2100-01-01T00:00:00Z' };
  const answer = await send(here, 'post', '/api/user/tokens', token, body).expect(201);
  return (answer.body as { token: string }).token;
}

const isTaken = (by: Replica, token: string) => send(by, 'get', '/api/user/info', token).expect(200);
const isRefused = (by: Replica, token: string) => send(by, 'get', '/api/user/info', token).expect(401);

test('accepts an API token at another replica at once, and refuses it there as soon as it is deleted', async () => {
  const session = await login(here, ann);
  proxy.hang();
  for (let round = 0; round < 5; round++) {
    const token = await newToken(session, 'ci');
    await isTaken(there, token);
    await send(here, 'delete', '/api/user/tokens?name=ci', session).expect(200);
    await isRefused(there, token);
  }
});

test('refuses tokens and logins of a removed user at a replica whose cache still has the user', async () => {
  const session = await login(there, ann);
  const token = await newToken(session, 'ci');
  await isTaken(there, session);
  proxy.hang();
  await send(here, 'delete', `/api/users/${ann.email}`, root).expect(200);
  expect(there.users.get(objectKey(namespace, userName(ann.email)))).toBeDefined();
  await isRefused(there, token);
  await isRefused(there, session);
  await request(there.app).post('/api/user/login').send(ann).expect(401);
});

test('ends other logins at every replica after a password change, also those just being created', async () => {
  const [kept, ended] = [await login(here, ann), await login(there, ann)];
  proxy.hang();
  const change = { currentPassword: ann.password, newPassword: 'another horse' };
  const logins = Array.from({ length: 20 }, () => request(there.app).post('/api/user/login').send(ann));
  const racing = Promise.all(logins.map((sent) => sent.then((answer) => answer)));
  await send(here, 'post', '/api/user/password', kept, change).expect(200);
  for (const { body } of await racing) {
    const { token } = body as { token?: string };
    if (token !== undefined) await isRefused(there, token);
  }
  await isRefused(there, ended);
  await isTaken(there, kept);
  await request(there.app).post('/api/user/login').send(ann).expect(401);
});

test('loses only logins with the data of Redis, and revives no revoked token', async () => {
  const session = await login(here, ann);
  const [token, dead] = [await newToken(session, 'ci'), await newToken(session, 'dead')];
  await send(here, 'delete', '/api/user/tokens?name=dead', session).expect(200);
  await here.redis.flushAll();
  await isTaken(there, token);
  for (const gone of [dead, session]) await isRefused(there, gone);
});

test("keeps the list of an account's logins no longer than the longest of them", async () => {
  const sessions = new Sessions(here.redis, Date.now, randomBytes);
  const tokens = [1, 2].map(() => sessions.create({ userName: 'user-x', accountId: 'x' }));
  const [first = '', second = ''] = await Promise.all(tokens);
  const list = 'coppice:sessions-of:x';
  expect(await here.redis.hLen(list)).toBe(2);
  const left = (await here.redis.pTTL(list)) / (24 * 3600 * 1000);
  expect(left).toBeGreaterThan(29.9);
  expect(left).toBeLessThanOrEqual(30);
  await sessions.revokeAll('x', first);
  expect([await sessions.find(first), await sessions.find(second)]).toEqual([expect.anything(), undefined]);
});
