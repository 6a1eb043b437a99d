import type { RequestListener, Server } from 'node:http';
import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { UnreachableError } from '../../kubernetes/api-error.ts';
import { everyRouteApi, REPOSITORY_BODY, ROUTES, SPAWN_BODY, type Route } from '../testing/every-route.ts';
import { shareApi } from '../testing/shared-api.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_ORIGIN, UNLIMITED } from '../testing/test-options.ts';

const byId = ROUTES.filter(({ path }) => path.includes('acme'));
const withBody = ROUTES.filter(({ body }) => body !== undefined);

let api: TestApi;
let token: string;
let served: RequestListener | Server;

async function startApi(config?: Parameters<typeof everyRouteApi>[0]): Promise<TestApi> {
  ({ api, token } = await everyRouteApi(config));
  served = api.app;
  return api;
}
const eachWithItsOwnApi = () => beforeEach(() => startApi().then(() => undefined));
const withOneApi = () =>
  shareApi(
    () => startApi(UNLIMITED),
    (server) => void (served = server),
  );

function call(
  { method, path }: Pick<Route, 'method' | 'path'>,
  headers: Record<string, string>,
  body?: object | string,
) {
  const sent = request(served)[method](path).set(headers);
  return body === undefined ? sent : sent.set('content-type', 'application/json').send(body);
}

const errorOnly = { error: expect.any(String) };

/** Sign-ins of programs, visits of environments, and the refs that syncs listed, are in Redis alone. */
const withoutCluster = (path: string) => /\/(device|authorizations|rules|access\/login)\b/.test(path);

/** Returns the error for an empty body. No field of settings is required, so their error is that of the whole body. */
function silent({ path }: Route): RegExp {
  return /\/(settings|access)$/.test(path) ? /^$/ : /./;
}

describe('each request on its own', () => {
  eachWithItsOwnApi();

  describe.each(ROUTES)('$method $path', (route) => {
    test(`answers ${route.status} as JSON`, async () => {
      const answer = await call(route, { 'x-service-token': token }, route.body);
      expect({ status: answer.status, body: answer.body as unknown }).toMatchObject({ status: route.status });
      expect(answer.type).toBe('application/json');
      expect(answer.headers['cache-control']).toBe('no-store');
    });

    test('accepts the token in the cookie', async () => {
      const answer = await call(route, { cookie: `a=b; token=${token}`, origin: TEST_ORIGIN }, route.body);
      expect(answer.status).toBe(route.status);
    });
  });

  describe.each(withBody.filter(({ path }) => !withoutCluster(path)))('$method $path', (route) => {
    test('answers 503 while the cluster cannot be reached', async () => {
      api.cluster.failure = new UnreachableError('POST https://10.0.0.1: ECONNREFUSED');
      const answer = await call(route, { 'x-service-token': token }, route.body);
      expect(answer.status).toBe(503);
      expect(answer.text).not.toContain('10.0.0.1');
    });
  });

  test.each([
    ['POST from another site', { origin: 'https://evil.example' }, 403],
    ['POST from an environment', { origin: 'http://shop-main--acme.env.localhost:8080' }, 403],
    ['POST without any origin', {}, 403],
    ['POST from our own page', { origin: TEST_ORIGIN }, 201],
    ['POST that the browser calls same-origin', { 'sec-fetch-site': 'same-origin' }, 201],
  ] as const)('checks a cookie and %s', async (_name, headers, status) => {
    const answer = await call(ROUTES[2]!, { cookie: `token=${token}`, ...headers }, { name: 'New' });
    expect(answer.status).toBe(status);
  });

  test('opens no group to a member whose address is not verified', async () => {
    const { token: unproven } = await api.login('bob@example.com', false);
    api.addGroup('bobs', ['bob@example.com']);
    const headers = { 'x-service-token': unproven };
    expect((await request(api.app).get('/api/group/bobs').set(headers)).status).toBe(404);
    expect((await request(api.app).get('/api/groups').set(headers)).body).toEqual([]);
    await request(api.app).post('/api/groups').set(headers).send({ name: 'Own' }).expect(201);
    expect((await request(api.app).get('/api/groups').set(headers)).body).toEqual([{ id: 'own', name: 'Own' }]);
  });

  test('answers 429 with Retry-After beyond the request limit, for that user only', async () => {
    api = new TestApi({ limits: { loginsPerMinute: 1, requestsPerMinute: 2 } });
    const [alice, bob] = [await api.login('alice@example.com'), await api.login('bob@example.com')];
    const info = (user: { token: string }) => request(api.app).get('/api/user/info').set('x-service-token', user.token);
    await info(alice).expect(200);
    await info(alice).expect(200);
    const answer = await info(alice);
    expect({ status: answer.status, body: answer.body as unknown }).toEqual({ status: 429, body: errorOnly });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    await info(bob).expect(200);
    await request(api.app).post('/api/user/login').send({ email: 'x', password: 'y' }).expect(401);
    await request(api.app).post('/api/user/register').send({}).expect(429);
  });

  test('returns a valid request ID, and replaces others', async () => {
    const answer = (id: string) => request(api.app).get('/api/groups').set('X-Request-Id', id);
    expect((await answer('abc-1')).headers['x-request-id']).toBe('abc-1');
    expect((await answer('a b')).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('sends the headers of helmet, and does not name express', async () => {
    const { headers } = await request(api.app).get('/');
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
    expect(headers['x-powered-by']).toBeUndefined();
  });
});

describe('requests that are refused', () => {
  withOneApi();

  describe.each(ROUTES)('$method $path', (route) => {
    test('answers 400 without authentication', async () => {
      const answer = await call(route, {}, '{broken');
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual(errorOnly);
    });

    test.each([
      ['an unknown token', { 'x-service-token': 'nobody' }],
      ['an empty header', { 'x-service-token': '' }],
      ['an unknown cookie', { cookie: 'token=nobody', origin: TEST_ORIGIN }],
    ])('%s: 401, before the body is read', async (_name, headers) => {
      const answer = await call(route, headers, '{broken');
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual(errorOnly);
    });

    test('ignores the cookie if the header is present', async () => {
      const headers = { 'x-service-token': 'nobody', cookie: `token=${token}`, origin: TEST_ORIGIN };
      expect((await call(route, headers, route.body)).status).toBe(401);
    });

    test('answers 503 while sessions cannot be read', async () => {
      api.redis.failure = new Error('connection refused to redis://secret@redis');
      const answer = await call(route, { 'x-service-token': token }, route.body);
      expect(answer.status).toBe(503);
      expect(answer.headers['retry-after']).toBeDefined();
      expect(answer.text).not.toContain('secret');
    });
  });

  describe.each(byId)('$method $path', ({ method, path }) => {
    test.each([
      ['another group', 'rival'],
      ['an unknown group', 'nowhere'],
      ['no id at all', '%20'],
      ['an id that does not decode', '%zz'],
    ])('%s: 404, before the body is read', async (_name, group) => {
      const answer = await call({ method, path: path.replace('acme', group) }, { 'x-service-token': token }, '{broken');
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual(errorOnly);
    });

    test('answers for hidden resources exactly as for missing ones, including errors of the body', async () => {
      const headers = { 'x-service-token': token };
      const [hidden, absent] = await Promise.all(
        ['rival', 'nowhere'].map((group) => call({ method, path: path.replace('acme', group) }, headers)),
      );
      expect(hidden?.text).toBe(absent?.text);
    });
  });

  describe.each(withBody)('$method $path', (route) => {
    test.each([
      ['broken JSON', '{broken', ''],
      ['an array', '[]', ''],
      ['null', 'null', ''],
      ['nothing', undefined, silent(route)],
    ])('answers %s with 422 and details', async (_name, body, path) => {
      const answer = await call(route, { 'x-service-token': token }, body);
      expect(answer.status).toBe(422);
      const details = [{ path: expect.stringMatching(path), message: expect.any(String) }];
      expect(answer.body).toEqual({ error: expect.any(String), details: expect.arrayContaining(details) });
    });

    test('answers 413 to a body over 1 MiB', async () => {
      const answer = await call(route, { 'x-service-token': token }, { name: 'a'.repeat(1024 * 1024) });
      expect(answer.status).toBe(413);
      expect(answer.body).toEqual(errorOnly);
    });
  });

  test.each([
    ['post', '/api/groups', { name: '!!!' }, ['name']],
    ['post', '/api/groups', { name: 5 }, ['name']],
    ['post', '/api/groups', { name: 'x'.repeat(101) }, ['name']],
    ['post', '/api/group/acme', { ...REPOSITORY_BODY, type: 'svn' }, ['type']],
    [
      'post',
      '/api/group/acme',
      { ...REPOSITORY_BODY, type: 'workspacehost', params: {} },
      ['params.workspace', 'params.repository', 'params.token'],
    ],
    ['post', '/api/group/acme', { ...REPOSITORY_BODY, params: {} }, ['params.origin']],
    ['post', '/api/group/acme', { ...REPOSITORY_BODY, params: { origin: 'ftp://host/a' } }, ['params.origin']],
    [
      'post',
      '/api/group/acme',
      { ...REPOSITORY_BODY, params: { origin: 'https://u:hunter2@host/b' } },
      ['params.origin'],
    ],
    ['post', '/api/group/acme/variables', { name: '1A', value: 'x', visibility: 'never' }, ['name', 'visibility']],
    ['post', '/api/group/acme/variables', { name: 'A', value: 'hunter2\0' }, ['value']],
    ['post', '/api/group/acme/variables', { name: 'A', value: ['x'] }, ['value']],
    ['post', '/api/group/acme/variables', { name: 'A' }, ['value']],
    ['patch', '/api/group/acme/variables', { name: 'OLD' }, ['value']],
    ['post', '/api/group/acme/members', { name: 'nobody' }, ['name']],
    ['post', '/api/repository/acme.shop', { name: ' ' }, ['name']],
    ['post', '/api/repository/acme.shop/settings', { environmentTTL: 'long' }, ['environmentTTL']],
    ['post', '/api/repository/acme.shop/settings', { scheduledRebuild: { mode: 'some' } }, ['scheduledRebuild.mode']],
    ['post', '/api/repository/acme.shop/settings', { scheduledRebuild: { hour: '24:00' } }, ['scheduledRebuild.hour']],
    [
      'post',
      '/api/repository/acme.shop/settings',
      { scheduledRebuild: { timeZone: 'x' } },
      ['scheduledRebuild.timeZone'],
    ],
    ['post', '/api/repository/acme.shop/settings', { serviceFile: { mode: 'all' } }, ['serviceFile.mode']],
    ['post', '/api/repository/acme.shop/settings', { serviceFile: { serviceFile: '%' } }, ['serviceFile.serviceFile']],
    [
      'post',
      '/api/repository/acme.shop/settings',
      { serviceFile: { serviceFile: '/w==' } },
      ['serviceFile.serviceFile'],
    ],
    ['post', '/api/repository/acme.shop/check', { serviceFile: '', files: { '../a': '' } }, ['files.../a']],
    ['post', '/api/repository/acme.shop/spawn', {}, ['gitRef']],
    [
      'post',
      '/api/repository/acme.shop/spawn',
      { gitRef: { name: '..', type: 'twig' } },
      ['gitRef.name', 'gitRef.type'],
    ],
    ['post', '/api/repository/acme.shop/spawn', { ...SPAWN_BODY, build: 'maybe' }, ['build']],
    ['post', '/api/repository/acme.shop/spawn', { ...SPAWN_BODY, ttl: -1 }, ['ttl']],
    ['post', '/api/repository/acme.shop/spawn', { ...SPAWN_BODY, ttl: 1.5 }, ['ttl']],
    ['put', '/api/environment/acme.shop-empty', { ttl: 'soon' }, ['ttl']],
    ['put', '/api/environment/acme.shop-empty?build=2', {}, ['build']],
    ['get', '/api/environment/acme.shop-main?build=maybe', undefined, ['build']],
    ['get', '/api/environment/acme.shop-main/build/logs?from=x', undefined, ['from']],
  ] as const)('answers %s %s %j with 422', async (method, path, body, paths) => {
    const answer = await call({ method, path }, { 'x-service-token': token }, body);
    expect(answer.status).toBe(422);
    const { details } = answer.body as { details: { path: string }[] };
    expect(details.map((detail) => detail.path)).toEqual(paths);
    expect(answer.text).not.toContain('hunter2');
  });

  test.each([
    ['get', '/api/nothing'],
    ['get', '/api'],
    ['post', '/api/environment/acme.shop-main/nothing'],
  ] as const)('answers %s %s with 400 without, and 404 with authentication', async (method, path) => {
    expect((await request(api.app)[method](path)).status).toBe(400);
    const answer = await request(api.app)[method](path).set('x-service-token', token);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual(errorOnly);
  });
});
