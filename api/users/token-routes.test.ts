import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP, type Group } from '../../crds/group.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';

let api: TestApi;
let login: string;
beforeEach(async () => {
  api = new TestApi();
  login = (await api.login('alice@example.com')).token;
});

const ci = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z', readOnly: false };
const view = { Name: 'ci', ExpiresOn: '2026-02-01T00:00:00.000Z', ReadOnly: 'false' };
const create = (body: object, token = login) =>
  request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body);
const remove = (body: object, token = login) =>
  request(api.app).delete('/api/user/tokens').set('x-service-token', token).send(body);
const info = (token: string) => request(api.app).get('/api/user/info').set('x-service-token', token);
const tokenOf = async (body: object) => ((await create(body).expect(201)).body as { token: string }).token;

test('is shown once, authenticates, is listed, and is gone after its deletion', async () => {
  const answer = await create(ci).expect(201);
  const { token, ...rest } = answer.body as { token: string };
  expect(rest).toEqual(view);
  expect(token).toMatch(/^cpt_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/);
  expect((await info(token).expect(200)).body).toEqual({ email: 'alice@example.com', apiTokens: [view] });
  await create({ ...ci, name: 'other', readOnly: 'true' }).expect(201);
  expect((await remove({ name: 'ci' }).expect(200)).body).toEqual([{ ...view, Name: 'other', ReadOnly: 'true' }]);
  await info(token).expect(401);
  await remove({ name: 'ci' }).expect(404);
});

test('is stored only as a hash', async () => {
  const token = await tokenOf(ci);
  const data = Object.values(api.cluster.all<Secret>(Secret)[0]?.data ?? {});
  const text = data.map((value) => Buffer.from(value, 'base64').toString()).join();
  expect(text).toContain('"name":"ci"');
  expect(text).not.toContain(token.slice(-43));
});

test('is refused from the second of its expiry', async () => {
  const token = await tokenOf({ ...ci, expirationTime: '2026-01-02T02:00:10+02:00' });
  api.now += 9_999;
  await info(token).expect(200);
  api.now += 1;
  await info(token).expect(401);
});

test('can have an expiration time with a lower-case t and z, as RFC 3339 permits', async () => {
  const answer = await create({ ...ci, expirationTime: '2026-02-01t00:00:00z' }).expect(201);
  expect(answer.body).toMatchObject(view);
});

test.each([
  ['another secret', (token: string) => `${token.slice(0, -4)}AAAA`],
  ["another user's record", (token: string) => token.replace(/_[0-9a-f]{4}/, '_0000')],
  ['another form', (token: string) => token.replace('cpt_', 'cpx_')],
  ['nothing', () => ''],
])('is refused with %s: 401', async (_name, change) => {
  await info(change(await tokenOf(ci))).expect(401);
});

test('ends with its account, also if the cache is behind', async () => {
  const token = await tokenOf(ci);
  const [secret] = api.cluster.all<Secret>(Secret);
  await api.cluster.delete(Secret, secret?.metadata ?? { name: '' });
  await info(token).expect(401);
});

test('needs Redis only for the request limit', async () => {
  const token = await tokenOf(ci);
  api.redis.entries.clear();
  await info(token).expect(200);
  await info(login).expect(401);
});

test('creates no tokens, and ends by its own logout', async () => {
  const token = await tokenOf(ci);
  await create({ ...ci, name: 'more' }, token).expect(403);
  await request(api.app).post('/api/user/logout').set('x-service-token', token).expect(200);
  await info(token).expect(401);
  await info(login).expect(200);
});

test('can only read if it is read-only: writes are 403, checked after existence and before validity', async () => {
  api.addGroup('acme', ['alice@example.com']);
  const token = await tokenOf({ ...ci, readOnly: true });
  const send = (method: 'get' | 'post' | 'delete', path: string, body?: object | string) =>
    request(api.app)[method](path).set('x-service-token', token).send(body);
  await send('get', '/api/group/acme').expect(200);
  await send('post', '/api/groups', '{broken').expect(403);
  await send('post', '/api/group/other', {}).expect(404);
  await send('post', '/api/group/acme', {}).expect(403);
  await send('delete', '/api/user/tokens', { name: 'ci' }).expect(403);
  await send('post', '/api/user/tokens', ci).expect(403);
});

describe('with scopes', () => {
  beforeEach(() => {
    for (const group of ['acme', 'tools']) {
      api.addGroup(group, ['alice@example.com']);
      for (const name of ['shop', 'blog']) api.addRepository(group, name);
    }
    api.addGroup('rival', ['mallory@example.com']);
    api.addRepository('rival', 'shop');
  });
  const ids = async (path: string, token: string) => {
    const answer = await request(api.app).get(path).set('x-service-token', token).expect(200);
    return (answer.body as { id: string }[]).map(({ id }) => id);
  };

  test('is listed with them, and sees only the groups that they name', async () => {
    const scopes = { groups: ['acme'], repositories: ['tools.shop'], access: 'operate' };
    const answer = await create({ ...ci, scopes }).expect(201);
    const { token, ...rest } = answer.body as { token: string };
    const scoped = { ...view, Scopes: scopes };
    expect(rest).toEqual(scoped);
    await create({ ...ci, name: 'other' }).expect(201);
    expect(await ids('/api/groups', token)).toEqual(['acme']);
    expect(await ids('/api/groups', login)).toEqual(['acme', 'tools']);
    const send = (path: string) => request(api.app).get(path).set('x-service-token', token);
    await send('/api/repository/acme.blog').expect(200);
    await send('/api/repository/tools.shop').expect(200);
    await send('/api/repository/tools.blog').expect(404);
    // A restricted token does not see the other tokens of its owner.
    expect((await info(token).expect(200)).body).toEqual({ email: 'alice@example.com', apiTokens: [scoped] });
  });

  test('is read-only with the access read, and the other way round', async () => {
    const made = await create({ ...ci, scopes: { access: 'read' } }).expect(201);
    expect(made.body).toMatchObject({ ReadOnly: 'true', Scopes: { access: 'read' } });
    const limited = await tokenOf({ ...ci, name: 'limited', readOnly: true, scopes: { groups: ['acme'] } });
    await request(api.app).post('/api/group/acme').set('x-service-token', limited).send({}).expect(403);
  });

  test('loses access when its owner leaves the group', async () => {
    const token = await tokenOf({ ...ci, scopes: { groups: ['acme'] } });
    api.cluster.change<Group>(GROUP, { name: 'acme' }, { spec: { members: ['bob@example.com'] } });
    expect(await ids('/api/groups', token)).toEqual([]);
  });

  test.each([
    [{}, 'scopes'],
    [{ group: ['acme'] }, 'scopes'],
    [{ groups: [] }, 'scopes.groups'],
    [{ groups: ['acme', 'rival'] }, 'scopes.groups.1'],
    [{ repositories: ['rival.shop'] }, 'scopes.repositories.0'],
    [{ repositories: ['shop'] }, 'scopes.repositories.0'],
    [{ access: 'write' }, 'scopes.access'],
    [{ groups: Array.from({ length: 11 }, () => 'acme') }, 'scopes.groups'],
  ])('%j: 422', async (scopes, path) => {
    const { details } = (await create({ ...ci, scopes }).expect(422)).body as { details: { path: string }[] };
    expect(new Set(details.map((detail) => detail.path))).toEqual(new Set([path]));
  });

  test('is refused with readOnly and an access above read: 422', async () => {
    const answer = await create({ ...ci, readOnly: true, scopes: { access: 'operate' } }).expect(422);
    expect(answer.body).toMatchObject({ details: [{ path: 'scopes.access' }] });
  });
});

test('has a unique name, and an account has at most 50', async () => {
  await create(ci).expect(201);
  await create({ ...ci, name: ' ci ' }).expect(409);
  for (let count = 1; count < 50; count++) await create({ ...ci, name: `ci-${count}` }).expect(201);
  expect((await create({ ...ci, name: 'more' }).expect(409)).text).toContain('at most 50');
});

test('is not lost when another one is created at the same time', async () => {
  await Promise.all(['a', 'b', 'c'].map((name) => create({ ...ci, name }).expect(201)));
  expect(((await info(login)).body as { apiTokens: object[] }).apiTokens).toHaveLength(3);
});

test.each([
  [{}, ['name', 'expirationTime']],
  [{ ...ci, name: '' }, ['name']],
  [{ ...ci, name: 'x'.repeat(101) }, ['name']],
  [{ ...ci, expirationTime: '2026-02-01' }, ['expirationTime']],
  [{ ...ci, expirationTime: '2026-02-30T00:00:00Z' }, ['expirationTime']],
  [{ ...ci, expirationTime: 1769904000 }, ['expirationTime']],
  [{ ...ci, expirationTime: '2026-01-02T00:00:00Z' }, ['expirationTime']],
  [{ ...ci, readOnly: 'perhaps' }, ['readOnly']],
])('is refused with the parameters %j: 422', async (body, paths) => {
  const { details } = (await create(body).expect(422)).body as { details: { path: string }[] };
  expect(details.map(({ path }) => path)).toEqual(paths);
});

test('is deleted by a name in the body or the query', async () => {
  await create(ci).expect(201);
  await remove({}).expect(422);
  const answer = await request(api.app).delete('/api/user/tokens?name=ci').set('x-service-token', login).expect(200);
  expect(answer.body).toEqual([]);
});
