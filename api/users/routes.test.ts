import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP } from '../../crds/group.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_NAMESPACE } from '../testing/test-options.ts';
import { userName } from '../user-records/user-record.ts';

const alice = { email: 'Alice@Example.com', password: 'correct horse' };

let api: TestApi;
beforeEach(() => {
  api = new TestApi();
});

const register = (body: object) => request(api.app).post('/api/user/register').send(body);
const login = (body: object) => request(api.app).post('/api/user/login').send(body);
const info = (token: string) => request(api.app).get('/api/user/info').set('x-service-token', token);
const tokenOf = async (body: object) => ((await login(body).expect(200)).body as { token: string }).token;

test('registers, logs in and logs out, which ends only that token', async () => {
  const registered = await register(alice).expect(201);
  expect(registered.body).toEqual({ email: 'alice@example.com', apiTokens: [] });
  const [first, second] = [await tokenOf(alice), await tokenOf({ ...alice, email: 'aLICE@example.com' })];
  expect((await info(first).expect(200)).body).toEqual({ email: 'alice@example.com', apiTokens: [] });
  await request(api.app).post('/api/user/logout').set('x-service-token', first).expect(200);
  await info(first).expect(401);
  await info(second).expect(200);
});

test('stores an account as a Secret without password, and creates a group for it', async () => {
  await register(alice).expect(201);
  const [secret] = api.cluster.all<Secret>(Secret);
  expect(secret?.metadata).toMatchObject({
    namespace: TEST_NAMESPACE,
    name: userName('alice@example.com'),
    labels: { 'coppice.dev/record': 'user' },
  });
  const decoded = Object.values(secret?.data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
  expect(decoded).toContain('alice@example.com');
  expect(decoded.join()).not.toContain(alice.password);
  expect(api.cluster.all(GROUP)).toMatchObject([
    { metadata: { name: 'alice' }, spec: { members: ['alice@example.com'] } },
  ]);
  const groups = await request(api.app)
    .get('/api/groups')
    .set('x-service-token', await tokenOf(alice));
  expect(groups.body).toEqual([{ id: 'alice', name: 'alice' }]);
});

test('answers 409 when an address registers twice', async () => {
  await register(alice).expect(201);
  await register({ ...alice, email: 'ALICE@example.com' }).expect(409);
});

test.each([
  ['a wrong password', { ...alice, password: 'wrong horse' }],
  ['an unknown address', { ...alice, email: 'bob@example.com' }],
  ['no address at all', { email: '', password: '' }],
])('answers a login with %s with the same 401', async (_name, body) => {
  await register(alice).expect(201);
  expect((await login(body).expect(401)).body).toEqual({
    error: 'the e-mail address or the password is wrong. Correct them, then log in again',
  });
});

test.each([
  [{}, ['email', 'password']],
  [{ ...alice, email: 'alice' }, ['email']],
  [{ ...alice, email: `${'a'.repeat(250)}@b.example` }, ['email']],
  [{ ...alice, password: '9 chars !' }, ['password']],
  [{ ...alice, password: 'x'.repeat(201) }, ['password']],
  [{ ...alice, password: ['correct horse'] }, ['password']],
])('answers the registration %j with 422', async (body, paths) => {
  const answer = await register(body).expect(422);
  const { details } = answer.body as { details: { path: string }[] };
  expect(details.map(({ path }) => path)).toEqual(paths);
  expect(answer.text).not.toContain('horse');
});

describe('registration', () => {
  test('is answered 403 when closed', async () => {
    api = new TestApi({ registration: { mode: 'closed', domains: [], provesAddress: false } });
    expect((await register(alice).expect(403)).body).toEqual({ error: expect.stringContaining('closed') });
  });

  test('is permitted for some domains', async () => {
    api = new TestApi({ registration: { mode: 'domains', domains: ['example.com'], provesAddress: false } });
    await register(alice).expect(201);
    await register({ ...alice, email: 'mallory@example.com.evil.example' }).expect(403);
    await register({ ...alice, email: 'mallory@sub.example.com' }).expect(403);
  });

  test('that verifies an address makes nobody an administrator', async () => {
    api = new TestApi({
      registration: { mode: 'open', domains: [], provesAddress: true },
      administrators: ['root@example.com', 'ann@example.com'],
    });
    const seen = async (email: string) => {
      await register({ ...alice, email }).expect(201);
      const token = await tokenOf({ ...alice, email });
      const answers = ['/api/group/acme', '/api/users'].map((path) =>
        request(api.app).get(path).set('x-service-token', token),
      );
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    api.addGroup('acme', ['alice@example.com', 'ann@example.com']);
    expect(await seen('alice@example.com')).toEqual([200, 404]);
    expect(await seen('Ann@example.com')).toEqual([404, 404]);
  });
});

test('refuses a token of a deleted account, also after the address registers again', async () => {
  await register(alice).expect(201);
  const token = await tokenOf(alice);
  api.cluster.change(Secret, { namespace: TEST_NAMESPACE, name: userName('alice@example.com') }, {});
  api.cluster.remove(Secret, { namespace: TEST_NAMESPACE, name: userName('alice@example.com') });
  await info(token).expect(401);
  await register(alice).expect(201);
  await info(token).expect(401);
  await info(await tokenOf(alice)).expect(200);
});

test('knows an account that another replica just created', async () => {
  await register(alice).expect(201);
  const token = await tokenOf(alice);
  const elsewhere = new TestApi();
  Object.assign(elsewhere, { now: api.now });
  for (const [key, entry] of api.redis.entries) elsewhere.redis.entries.set(key, entry);
  for (const secret of api.cluster.all<Secret>(Secret)) await elsewhere.cluster.create(Secret, secret);
  await request(elsewhere.app).get('/api/user/info').set('x-service-token', token).expect(200);
});

test('ignores a Secret that is not a user record', async () => {
  api.cluster.add(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: TEST_NAMESPACE, name: userName('alice@example.com') },
    data: { email: Buffer.from('mallory@example.com').toString('base64') },
  });
  await login(alice).expect(401);
});

describe('login attempts', () => {
  beforeEach(() => {
    api = new TestApi({ limits: { loginsPerMinute: 3, requestsPerMinute: 1000 }, trustedProxies: 1 });
  });
  /** Sends requests, each from another address. */
  const from = (count: number, path: string, body: object) =>
    request(api.app).post(path).set('x-forwarded-for', `192.0.2.${count}`).send(body);

  /** Makes as many attempts as an address permits: those of ten clients. */
  const useUp = async (body: object) => {
    for (let count = 0; count < 30; count++) await from(count % 10, '/api/user/login', body).expect(401);
  };

  test('for one address are counted from all clients, whether the account exists or not', async () => {
    await useUp(alice);
    const answer = await from(11, '/api/user/login', { ...alice, email: 'ALICE@example.com' }).expect(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    await from(11, '/api/user/login', { ...alice, email: 'bob@example.com' }).expect(401);
  });

  test('of one client do not prevent others from logging in', async () => {
    await from(1, '/api/user/register', alice).expect(201);
    for (let count = 1; count <= 5; count++) await from(2, '/api/user/login', { ...alice, password: 'wrong' });
    await from(1, '/api/user/login', alice).expect(200);
  });

  test('of others do not prevent a password change', async () => {
    await from(11, '/api/user/register', alice).expect(201);
    const { token } = (await from(11, '/api/user/login', alice).expect(200)).body as { token: string };
    const change = (currentPassword: string) =>
      from(11, '/api/user/password', { currentPassword, newPassword: 'another horse' }).set('x-service-token', token);
    for (let count = 1; count < 30; count++) await from(count % 10, '/api/user/login', { ...alice, password: 'wrong' });
    await from(12, '/api/user/login', alice).expect(429);
    await change(alice.password).expect(200);
    await change('wrong').expect(403);
    await change('wrong').expect(403);
    expect((await change('wrong').expect(429)).body).toEqual({ error: expect.stringContaining('password') });
  });

  test('of others do not prevent registration with an invitation', async () => {
    const root = (await api.login('root@example.com')).token;
    const email = 'bob@example.com';
    const invited = await from(11, '/api/users', { email }).set('x-service-token', root).expect(201);
    await useUp({ ...alice, email });
    const { invitation } = invited.body as { invitation: string };
    await from(12, '/api/user/register', { ...alice, email, invitation }).expect(201);
  });

  test('from one address are counted over all accounts', async () => {
    for (let count = 1; count <= 3; count++) {
      await from(1, '/api/user/login', { ...alice, email: `${count}@example.com` }).expect(401);
    }
    await from(1, '/api/user/login', { ...alice, email: '4@example.com' }).expect(429);
  });

  test('to read invitations are counted apart from those to log in', async () => {
    const check = () => from(1, '/api/user/invitation/check', { invitation: `a.${'A'.repeat(43)}` });
    for (let count = 1; count <= 3; count++) await check().expect(200);
    await check().expect(429);
    await from(1, '/api/user/login', alice).expect(401);
  });
});

describe('a password of more than 1 KiB', () => {
  // Each of these is 18 characters for the hash.
  const password = '\ufdfa'.repeat(342);

  test.each([
    ['/api/user/login', { ...alice, password }],
    ['/api/user/register', { ...alice, password }],
  ])('is answered with 422 before it is used: %s', async (path, body) => {
    const answer = await request(api.app).post(path).send(body).expect(422);
    expect((answer.body as { details: object[] }).details).toEqual([
      { path: 'password', message: 'must have 1024 bytes at most' },
    ]);
  });

  test('changes nothing', async () => {
    await request(api.app).post('/api/user/register').send(alice).expect(201);
    const token = ((await login(alice).expect(200)).body as { token: string }).token;
    const change = (body: object) =>
      request(api.app).post('/api/user/password').set('x-service-token', token).send(body);
    await change({ currentPassword: password, newPassword: 'another horse' }).expect(422);
    await change({ currentPassword: alice.password, newPassword: password }).expect(422);
  });

  test('exceeds the longest one: 200 characters of any size', async () => {
    await request(api.app)
      .post('/api/user/register')
      .send({ ...alice, password: '\u{1f40e}'.repeat(200) })
      .expect(201);
  });
});

test('ignores a forwarded address from clients other than the proxies', async () => {
  const limits = { loginsPerMinute: 3, requestsPerMinute: 1000 };
  const tries = async (trustedProxyCidrs: string[]) => {
    api = new TestApi({ limits, trustedProxies: 1, trustedProxyCidrs });
    const statuses: number[] = [];
    for (let count = 0; count < 5; count++) {
      const sent = request(api.app).post('/api/user/login').set('x-forwarded-for', `192.0.2.${count}`);
      statuses.push((await sent.send({ ...alice, email: `u${count}@example.com` })).status);
    }
    return statuses;
  };
  // Supertest connects from 127.0.0.1.
  expect(await tries(['127.0.0.0/8'])).toEqual([401, 401, 401, 401, 401]);
  expect(await tries(['10.42.0.0/16'])).toEqual([401, 401, 401, 429, 429]);
});
