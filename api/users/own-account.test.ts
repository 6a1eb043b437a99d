import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP, type Group } from '../../crds/group.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_NAMESPACE, TEST_ORIGIN } from '../testing/test-options.ts';
import { userName } from '../user-records/user-record.ts';

const bob = { email: 'bob@example.com', password: 'correct horse' };
const provesAddress = { registration: { mode: 'open' as const, domains: [], provesAddress: true } };

let api: TestApi;
let token: string;
beforeEach(async () => {
  api = new TestApi(provesAddress);
  await register(bob).expect(201);
  token = await login();
});

const register = (body: object) => request(api.app).post('/api/user/register').send(body);
const login = async (body: object = bob) =>
  ((await request(api.app).post('/api/user/login').send(body).expect(200)).body as { token: string }).token;
const send = (method: 'get' | 'post' | 'delete', path: string, body?: object, as = token) =>
  request(api.app)[method](path).set('x-service-token', as).send(body);
const remove = (body: object = { password: bob.password }, as = token) => send('delete', '/api/user', body, as);
const groups = () =>
  Object.fromEntries(api.cluster.all<Group>(GROUP).map(({ metadata, spec }) => [metadata.name, spec.members]));
const users = () => api.cluster.all(Secret).filter(({ metadata }) => metadata.namespace === TEST_NAMESPACE);
const group = (name: string, members: string[], owners = members) => api.addGroup(name, members, { owners });

test('is deleted with its logins, API tokens, memberships, and the groups without other members', async () => {
  const expirationTime = '2027-01-01T00:00:00Z';
  const created = await send('post', '/api/user/tokens', { name: 'ci', expirationTime }).expect(201);
  group('shared', ['ann@example.com', bob.email], ['ann@example.com']);
  const other = await login();
  const answer = await remove().expect(200);
  expect(answer.body).toEqual({ email: bob.email, groupsWithoutMembers: [] });
  for (const ended of [token, other, (created.body as { token: string }).token]) {
    await send('get', '/api/user/info', undefined, ended).expect(401);
  }
  expect(groups()).toEqual({ shared: ['ann@example.com'] });
  expect(users()).toEqual([]);
  await request(api.app).post('/api/user/login').send(bob).expect(401);
});

describe('the groups without other members', () => {
  const written = (change: object) => api.cluster.patch(GROUP, { name: 'bob' }, change);
  const creator = () =>
    api.cluster.all<Group>(GROUP).map(({ metadata }) => metadata.annotations?.[ANNOTATIONS.createdBy])[0];

  test('are deleted even if the operator has just written them and the cache is behind', async () => {
    await written({ status: { observedGeneration: 1 } });
    await remove().expect(200);
    expect(groups()).toEqual({});
  });

  test('are kept if somebody has joined meanwhile', async () => {
    await written({ spec: { members: [bob.email, 'ann@example.com'] } });
    await remove().expect(200);
    expect(groups()).toEqual({ bob: ['ann@example.com'] });
  });

  test('are left once their deletion has started, although the object remains until the namespace is gone', async () => {
    api.cluster.delete = () => Promise.resolve();
    await remove().expect(200);
    expect(groups()).toEqual({ bob: [] });
  });

  test('are deleted even if another request created them during the deletion', async () => {
    const made = { metadata: { annotations: { [ANNOTATIONS.createdBy]: creator() ?? '' } } };
    const deleteNow = api.cluster.delete.bind(api.cluster);
    api.cluster.delete = async (type, ...rest) => {
      await deleteNow(type, ...rest);
      if (type.kind !== 'Secret') return;
      group('late', [bob.email]);
      api.cluster.change<Group>(GROUP, { name: 'late' }, made);
    };
    await remove().expect(200);
    expect(groups()).toEqual({});
  });
});

describe('is deleted only by its owner', () => {
  test.each([
    ['without a password', {}],
    ['by a wrong password', { password: 'wrong horse' }],
  ])('%s: 403', async (_how, body) => {
    await remove(body).expect(403);
    await send('get', '/api/user/info').expect(200);
  });

  test('and not with an API token', async () => {
    const body = { name: 'ci', expirationTime: '2027-01-01T00:00:00Z' };
    const created = await send('post', '/api/user/tokens', body).expect(201);
    await remove(undefined, (created.body as { token: string }).token).expect(403);
  });

  test('with a limited number of passwords per minute', async () => {
    api = new TestApi({ ...provesAddress, limits: { loginsPerMinute: 3, requestsPerMinute: 1000 } });
    await register(bob).expect(201);
    token = await login();
    for (let tries = 0; tries < 3; tries++) await remove({ password: 'wrong horse' }).expect(403);
    await remove().expect(429);
  });

  test('and clears the cookie of the browser', async () => {
    const answer = await request(api.app)
      .delete('/api/user')
      .set('cookie', `token=${token}`)
      .set('origin', TEST_ORIGIN)
      .send({ password: bob.password })
      .expect(200);
    expect(String(answer.headers['set-cookie'])).toContain('token=;');
  });
});

describe('is deleted without a password, through OpenID Connect,', () => {
  beforeEach(async () => {
    token = (await api.login('ann@example.com')).token;
    const at = { namespace: TEST_NAMESPACE, name: userName('ann@example.com') };
    api.cluster.change(Secret, at, { data: { passwordHash: null } });
  });

  test('with a login of the last five minutes', async () => {
    api.now += 5 * 60_000;
    await remove({}).expect(200);
  });

  test('not with an older one, even if a password is sent', async () => {
    api.now += 5 * 60_000 + 1;
    const answer = await remove({ password: 'anything at all' }).expect(403);
    expect(answer.body).toEqual({
      error: 'this account has no password: log in by OpenID Connect again, then repeat the request within 5 minutes',
    });
  });
});

describe('is kept while its user is the last owner of a group with repositories', () => {
  test('with a 409 that names the groups', async () => {
    for (const name of ['built', 'shared', 'empty', 'theirs']) {
      group(name, [bob.email, 'ann@example.com'], [name === 'theirs' ? 'ann@example.com' : bob.email]);
      if (name !== 'empty') api.addRepository(name, 'shop');
    }
    const answer = await remove().expect(409);
    expect(answer.body).toEqual({
      error: expect.stringContaining(
        'nobody else owns these groups, which have repositories: built, shared. Make another member an owner (PATCH /api/group/ID/members/EMAIL {"role": "owner"}), or delete the groups',
      ),
    });
    expect(groups()['built']).toContain(bob.email);
    await send('get', '/api/user/info').expect(200);
  });

  test('until the group has another owner who sees it', async () => {
    group('built', [bob.email, 'ann@example.com']);
    api.addRepository('built', 'shop');
    await remove().expect(409);
    await api.login('ann@example.com');
    await remove().expect(200);
    expect(groups()['built']).toEqual(['ann@example.com']);
  });

  test('until the group is being deleted', async () => {
    group('built', [bob.email]);
    api.addRepository('built', 'shop');
    api.cluster.change(GROUP, { name: 'built' }, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    await remove().expect(200);
  });
});

test('is kept while the chart names its user as an administrator', async () => {
  api = new TestApi({ ...provesAddress, administrators: [bob.email] });
  await register(bob).expect(201);
  token = await login();
  await remove().expect(409);
});

describe('of an address that belongs to somebody else', () => {
  beforeEach(async () => {
    api = new TestApi();
    await register(bob).expect(201);
    token = await login();
  });

  test('does not remove the owner of the address from groups that name it', async () => {
    group('acme', ['ann@example.com', bob.email]);
    await remove().expect(200);
    expect(groups()).toEqual({ acme: ['ann@example.com', bob.email] });
  });

  test("does not remove an administrator's invitation", async () => {
    const root = (await api.login('root@example.com')).token;
    const invited = await send('post', '/api/users', { email: bob.email }, root).expect(201);
    const { invitation } = invited.body as { invitation: string };
    await remove().expect(200);
    await request(api.app).post('/api/user/login').send(bob).expect(401);
    await send('get', '/api/user/info').expect(401);
    await register({ ...bob, invitation }).expect(201);
  });
});
