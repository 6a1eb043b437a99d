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

test('register, log in, look, log out: that token alone is dead', async () => {
  const registered = await register(alice).expect(201);
  expect(registered.body).toEqual({ email: 'alice@example.com', apiTokens: [] });
  const [first, second] = [await tokenOf(alice), await tokenOf({ ...alice, email: 'aLICE@example.com' })];
  expect((await info(first).expect(200)).body).toEqual({ email: 'alice@example.com', apiTokens: [] });
  await request(api.app).post('/api/user/logout').set('x-service-token', first).expect(200);
  await info(first).expect(401);
  await info(second).expect(200);
});

test('an account is a Secret that holds no password, and a group of its own', async () => {
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

test('an address twice: 409', async () => {
  await register(alice).expect(201);
  await register({ ...alice, email: 'ALICE@example.com' }).expect(409);
});

test.each([
  ['a wrong password', { ...alice, password: 'wrong horse' }],
  ['an unknown address', { ...alice, email: 'bob@example.com' }],
  ['no address at all', { email: '', password: '' }],
])('login with %s: 401, the same answer', async (_name, body) => {
  await register(alice).expect(201);
  expect((await login(body).expect(401)).body).toEqual({ error: 'the e-mail address or the password is wrong' });
});

test.each([
  [{}, ['email', 'password']],
  [{ ...alice, email: 'alice' }, ['email']],
  [{ ...alice, email: `${'a'.repeat(250)}@b.example` }, ['email']],
  [{ ...alice, password: '9 chars !' }, ['password']],
  [{ ...alice, password: 'x'.repeat(201) }, ['password']],
  [{ ...alice, password: ['correct horse'] }, ['password']],
])('register %j: 422', async (body, paths) => {
  const answer = await register(body).expect(422);
  const { details } = answer.body as { details: { path: string }[] };
  expect(details.map(({ path }) => path)).toEqual(paths);
  expect(answer.text).not.toContain('horse');
});

describe('registration', () => {
  test('closed: 403', async () => {
    api = new TestApi({ registration: { mode: 'closed', domains: [], provesAddress: false } });
    expect((await register(alice).expect(403)).body).toEqual({ error: expect.stringContaining('closed') });
  });

  test('for some domains', async () => {
    api = new TestApi({ registration: { mode: 'domains', domains: ['example.com'], provesAddress: false } });
    await register(alice).expect(201);
    await register({ ...alice, email: 'mallory@example.com.evil.example' }).expect(403);
    await register({ ...alice, email: 'mallory@sub.example.com' }).expect(403);
  });

  test('that proves an address makes nobody an administrator', async () => {
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

test('a token dies with its account, and does not live again with the next of that address', async () => {
  await register(alice).expect(201);
  const token = await tokenOf(alice);
  api.cluster.change(Secret, { namespace: TEST_NAMESPACE, name: userName('alice@example.com') }, {});
  api.cluster.remove(Secret, { namespace: TEST_NAMESPACE, name: userName('alice@example.com') });
  await info(token).expect(401);
  await register(alice).expect(201);
  await info(token).expect(401);
  await info(await tokenOf(alice)).expect(200);
});

test('an account that another replica just made is known here', async () => {
  await register(alice).expect(201);
  const token = await tokenOf(alice);
  const elsewhere = new TestApi();
  Object.assign(elsewhere, { now: api.now });
  for (const [key, entry] of api.redis.entries) elsewhere.redis.entries.set(key, entry);
  for (const secret of api.cluster.all<Secret>(Secret)) await elsewhere.cluster.create(Secret, secret);
  await request(elsewhere.app).get('/api/user/info').set('x-service-token', token).expect(200);
});

test('a Secret that is not a user record is not a user', async () => {
  api.cluster.add(Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: TEST_NAMESPACE, name: userName('alice@example.com') },
    data: { email: Buffer.from('mallory@example.com').toString('base64') },
  });
  await login(alice).expect(401);
});

describe('tries', () => {
  beforeEach(() => {
    api = new TestApi({ limits: { loginsPerMinute: 3, requestsPerMinute: 1000 }, trustedProxies: 1 });
  });
  /** From another address each time. */
  const from = (count: number, path: string, body: object) =>
    request(api.app).post(path).set('x-forwarded-for', `192.0.2.${count}`).send(body);

  /** As many as an address may have: those of ten clients. */
  const useUp = async (body: object) => {
    for (let count = 0; count < 30; count++) await from(count % 10, '/api/user/login', body).expect(401);
  };

  test('of one address are counted, from wherever they come, whether there is an account', async () => {
    await useUp(alice);
    const answer = await from(11, '/api/user/login', { ...alice, email: 'ALICE@example.com' }).expect(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    await from(11, '/api/user/login', { ...alice, email: 'bob@example.com' }).expect(401);
  });

  test('of one client keep nobody else from logging in', async () => {
    await from(1, '/api/user/register', alice).expect(201);
    for (let count = 1; count <= 5; count++) await from(2, '/api/user/login', { ...alice, password: 'wrong' });
    await from(1, '/api/user/login', alice).expect(200);
  });

  test('of others keep nobody from changing the password', async () => {
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

  test('of others keep nobody from registering with an invitation', async () => {
    const root = (await api.login('root@example.com')).token;
    const email = 'bob@example.com';
    const invited = await from(11, '/api/users', { email }).set('x-service-token', root).expect(201);
    await useUp({ ...alice, email });
    const { invitation } = invited.body as { invitation: string };
    await from(12, '/api/user/register', { ...alice, email, invitation }).expect(201);
  });

  test('from one address are counted, whoever they are for', async () => {
    for (let count = 1; count <= 3; count++) {
      await from(1, '/api/user/login', { ...alice, email: `${count}@example.com` }).expect(401);
    }
    await from(1, '/api/user/login', { ...alice, email: '4@example.com' }).expect(429);
  });
});

describe('a password of more than 1 KiB', () => {
  // Each of these is 18 characters to whoever hashes it.
  const password = '\ufdfa'.repeat(342);

  test.each([
    ['/api/user/login', { ...alice, password }],
    ['/api/user/register', { ...alice, password }],
  ])('%s: 422 before anything is done with it', async (path, body) => {
    const answer = await request(api.app).post(path).send(body).expect(422);
    expect((answer.body as { details: object[] }).details).toEqual([
      { path: 'password', message: 'must have 1024 bytes at most' },
    ]);
  });

  test('neither changes one', async () => {
    await request(api.app).post('/api/user/register').send(alice).expect(201);
    const token = ((await login(alice).expect(200)).body as { token: string }).token;
    const change = (body: object) =>
      request(api.app).post('/api/user/password').set('x-service-token', token).send(body);
    await change({ currentPassword: password, newPassword: 'another horse' }).expect(422);
    await change({ currentPassword: alice.password, newPassword: password }).expect(422);
  });

  test('is not the longest that can be had: 200 characters, of whatever bytes', async () => {
    await request(api.app)
      .post('/api/user/register')
      .send({ ...alice, password: '\u{1f40e}'.repeat(200) })
      .expect(201);
  });
});

test('who connects from elsewhere than the proxies cannot say that they are somebody else', async () => {
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
