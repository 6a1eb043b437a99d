import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { newestRequestId } from '../../crds/requests.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { TestApi } from '../testing/test-api.ts';

type Line = Record<string, unknown>;

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});
afterEach(() => {
  const text = JSON.stringify(api.audited);
  expect(text).not.toContain(token);
  expect(text).not.toContain('password1234');
});

/** Returns the lines once the connections of the requests are closed. */
async function lines(): Promise<Line[]> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return api.audited;
}

const gitRef = { name: 'main', type: 'branch' };
const spawn = (id: string) =>
  request(api.app)
    .post('/api/repository/acme.shop/spawn?secret=password1234')
    .set({ 'x-service-token': token, 'x-request-id': id })
    .send({ gitRef, name: 'password1234' });

test('logs who changed what, with the ID that the response and the object contain', async () => {
  const answer = await spawn('from-ci.7').expect(201);
  expect(answer.headers['x-request-id']).toBe('from-ci.7');
  expect(await lines()).toEqual([
    {
      audit: true,
      requestId: 'from-ci.7',
      accountId: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      email: 'alice@example.com',
      credential: 'login',
      access: 'administer',
      readOnly: false,
      address: expect.any(String) as unknown,
      method: 'POST',
      path: '/api/repository/acme.shop/spawn',
      endpoint: '/api/repository/{repoID}/spawn',
      status: 201,
      outcome: 'done',
      changes: [{ verb: 'create', kind: 'Environment', key: 'group-acme/shop-main' }],
    },
  ]);
  const [environment] = api.cluster.all<Environment>(ENVIRONMENT);
  expect(environment?.metadata.annotations).toMatchObject({ [ANNOTATIONS.requestId]: 'from-ci.7' });
});

test('writes the ID of the latest request to the object', async () => {
  await spawn('one').expect(201);
  const build = (id: string) =>
    request(api.app)
      .post('/api/environment/acme.shop-main/build')
      .set({ 'x-service-token': token, 'x-request-id': id });
  await build('two').expect(202);
  api.now += 1000;
  await build('three').expect(202);
  const [environment] = api.cluster.all<Environment>(ENVIRONMENT);
  expect(newestRequestId(environment?.metadata.annotations)).toBe('three');
});

test.each(['no spaces please', 'x'.repeat(65), 'a/b'])('replaces the unsafe ID %s', async (id) => {
  const answer = await spawn(id).expect(201);
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
});

test.each<[string, string, object, number, Line]>([
  [
    'a request that nobody may send',
    '/api/group/other/leave',
    {},
    404,
    { outcome: 'refused', email: 'alice@example.com' },
  ],
  ['a wrong path', '/api/group/acme/nothing', {}, 404, { outcome: 'refused', email: 'alice@example.com' }],
  ['a login that fails', '/api/user/login', {}, 422, { outcome: 'refused', endpoint: '/api/user/login' }],
])('logs %s', async (_what, path, headers, status, expected) => {
  const sent = request(api.app).post(path);
  await sent.set({ 'x-service-token': token, ...headers }).expect(status);
  expect(await lines()).toEqual([expect.objectContaining({ ...expected, status, path, changes: [] })]);
});

test.each([
  ['a wrong token', '/api/group/acme/leave', { 'x-service-token': 'wrong' }, 401],
  ['no token, and a path of 8 KiB', `/api/${'x'.repeat(8192)}`, {}, 400],
  ['a delivery without a signature', '/api/webhooks/ownerhost/acme.shop', {}, 401],
])('does not log %s, so that strangers cannot displace other lines', async (_what, path, headers, status) => {
  await request(api.app).post(path).set(headers).send({}).expect(status);
  expect(await lines()).toEqual([]);
});

test('truncates a long path', async () => {
  const path = `/api/group/acme/${'x'.repeat(8192)}`;
  await request(api.app).post(path).set('x-service-token', token).expect(404);
  expect(await lines()).toEqual([expect.objectContaining({ path: path.slice(0, 256) })]);
});

test('does not log a read unless it starts a build', async () => {
  const status = { state: 'created', activation: sampleActivation() } as const;
  api.addEnvironment('acme', 'shop-main', 'shop', status);
  const read = () => request(api.app).get('/api/environment/acme.shop-main').set('x-service-token', token).expect(200);
  await read();
  await read();
  const changes = [{ verb: 'patch', kind: 'Environment', key: 'group-acme/shop-main' }];
  expect(await lines()).toEqual([expect.objectContaining({ method: 'GET', changes })]);
});

test('logs the request and user of a caller who disconnects before the response', async () => {
  await spawn('first').expect(201);
  const asked = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  const patch = api.cluster.patch.bind(api.cluster);
  api.cluster.patch = async (...args) => {
    asked.resolve(undefined);
    await held.promise;
    return patch(...args);
  };
  const server = createServer(api.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const path = '/api/environment/acme.shop-main/build';
  const hung = httpRequest({ port, path, method: 'POST', headers: { 'x-service-token': token } });
  hung.on('error', () => undefined).end();
  await asked.promise;
  hung.destroy();
  const [, atClose] = await lines();
  const endpoint = '/api/environment/{environmentID}/build';
  const line = { email: 'alice@example.com', endpoint, outcome: 'abandoned' };
  expect(atClose).toMatchObject({ ...line, changes: [] });
  held.resolve(undefined);
  const [, , late] = await lines();
  const change = { verb: 'patch', kind: 'Environment', key: 'group-acme/shop-main' };
  expect(late).toEqual({ ...atClose, changes: [change] });
  server.close();
});
