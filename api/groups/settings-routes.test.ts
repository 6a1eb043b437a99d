import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP, type Group } from '../../crds/group.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_NAMESPACE, TEST_ORIGIN } from '../testing/test-options.ts';
import { userName } from '../user-records/user-record.ts';
import { MemberService } from './member-service.ts';

let api: TestApi;
const tokens: Record<string, string> = {};

beforeEach(async () => {
  api = new TestApi();
  for (const name of ['alice', 'bob']) tokens[name] = (await api.login(`${name}@example.com`)).token;
  api.addGroup('acme', ['alice@example.com']);
});

function send(method: 'get' | 'post' | 'patch' | 'delete', rest: string, body?: object, as = 'alice') {
  const sent = request(api.app)[method](`/api/group/acme${rest}`);
  return sent.set('x-service-token', tokens[as] ?? '').send(body);
}
const group = () => api.cluster.all<Group>(GROUP)[0];
const view = (name: string, role = 'member') => ({ id: `${name}@example.com`, name: `${name}@example.com`, role });

const open = { invitationExpiresAt: '2026-01-09T00:00:00.000Z' };
const opensAcme = { kind: 'group', group: { id: 'acme', name: 'acme' }, expiresAt: open.invitationExpiresAt };
const invited = { invitation: expect.any(String), ...open };

describe('members', () => {
  test('are added, see the group, and are removed', async () => {
    await send('get', '', undefined, 'bob').expect(404);
    const added = await send('post', '/members', { name: 'Bob@Example.com' }).expect(201);
    expect(added.body).toEqual([view('alice', 'owner'), { ...view('bob'), ...invited }]);
    await send('post', '/members', { name: 'bob@example.com' }).expect(409);
    const settings = await send('get', '/settings', undefined, 'bob').expect(200);
    expect(settings.body).toEqual({ variables: [], members: [view('alice', 'owner'), { ...view('bob'), ...open }] });
    const left = await send('delete', '/members/BOB%40example.com').expect(200);
    expect(left.body).toEqual([view('alice', 'owner')]);
    await send('get', '', undefined, 'bob').expect(404);
    await send('delete', '/members/bob@example.com').expect(404);
  });

  test('without the invitation see nothing after registering the address; with it, only this group', async () => {
    api.addGroup('other', ['alice@example.com', 'carol@example.com']);
    const added = await send('post', '/members', { name: 'carol@example.com' }).expect(201);
    const { invitation } = (added.body as { invitation?: string }[])[1] ?? {};
    const settings = await send('get', '/settings').expect(200);
    expect(settings.body).toMatchObject({ members: [view('alice', 'owner'), view('carol')] });
    expect(JSON.stringify(api.cluster.all(GROUP))).not.toContain(invitation);

    tokens['carol'] = (await api.login('carol@example.com', false)).token;
    const carols = () =>
      request(api.app)
        .get('/api/groups')
        .set('x-service-token', tokens['carol'] ?? '');
    expect((await carols()).body).toEqual([]);
    const check = () => request(api.app).post('/api/user/invitation/check').send({ invitation });
    expect((await check().expect(200)).body).toEqual({ ...opensAcme, email: 'c…@example.com' });
    const accept = request(api.app).post('/api/user/invitation').set('x-service-token', tokens['carol']);
    await accept.send({ invitation }).expect(200);
    expect((await carols()).body).toEqual([{ id: 'acme', name: 'acme' }]);
    // Nobody learns from it who joined which group.
    await check().expect(422);
    const joined = await send('get', '/settings').expect(200);
    expect(joined.body).toEqual({ variables: [], members: [view('alice', 'owner'), view('carol')] });

    await send('delete', '/members/carol@example.com').expect(200);
    await send('post', '/members', { name: 'carol@example.com' }).expect(201);
    expect((await carols()).body).toEqual([]);
  });

  test('see who invites them only while signed in with the invited address', async () => {
    const [, { invitation = '' } = {}] = (await send('post', '/members', { name: 'bob@example.com' })).body as {
      invitation?: string;
    }[];
    const check = (headers: Record<string, string>) =>
      request(api.app).post('/api/user/invitation/check').set(headers).send({ invitation });
    const tokenOf = (name: string) => ({ 'x-service-token': tokens[name] ?? '' });
    const all = { ...opensAcme, email: 'bob@example.com', invitedBy: 'alice@example.com' };
    expect((await check(tokenOf('bob')).expect(200)).body).toEqual(all);
    const cookie = { cookie: `token=${tokens['bob']}` };
    expect((await check({ ...cookie, origin: TEST_ORIGIN })).body).toEqual(all);

    const others = { ...opensAcme, email: 'b…@example.com' };
    const expirationTime = '2026-02-01T00:00:00Z';
    const made = await request(api.app)
      .post('/api/user/tokens')
      .set(tokenOf('bob'))
      .send({ name: 'ci', expirationTime });
    const { token = '' } = made.body as { token?: string };
    expect(token).not.toBe('');
    for (const headers of [
      tokenOf('alice'),
      { 'x-service-token': token },
      { 'x-service-token': 'nobody' },
      { ...cookie, origin: 'http://elsewhere.example' },
    ]) {
      expect((await check(headers).expect(200)).body).toEqual(others);
    }
    await check({ cookie: 'token=one; token=two' }).expect(401);
  });

  test('do not see an inviter whose address is not verified, or whose account is another one now', async () => {
    tokens['mallory'] = (await api.login('mallory@example.com', false)).token;
    const created = { name: 'own', displayName: 'Bigcorp' };
    await request(api.app).post('/api/groups').set('x-service-token', tokens['mallory']).send(created).expect(201);
    const added = await request(api.app)
      .post('/api/group/own/members')
      .set('x-service-token', tokens['mallory'])
      .send({ name: 'bob@example.com' });
    const { invitation } = (added.body as { invitation?: string }[])[1] ?? {};
    const check = () =>
      request(api.app)
        .post('/api/user/invitation/check')
        .set('x-service-token', tokens['bob'] ?? '')
        .send({ invitation });
    const named = { kind: 'group', group: { id: 'own', name: 'Bigcorp' }, email: 'bob@example.com' };
    expect((await check().expect(200)).body).toEqual({ ...named, expiresAt: open.invitationExpiresAt });
    // The owner of the address proves it: their account did not invite.
    const name = userName('mallory@example.com');
    const data = encodeTexts({ accountId: 'another', verified: 'true' });
    api.cluster.change(Secret, { namespace: TEST_NAMESPACE, name }, { data });
    expect((await check().expect(200)).body).not.toHaveProperty('invitedBy');
  });

  test("learn nothing from a text in the form of an administrator's invitation", async () => {
    const check = request(api.app).post('/api/user/invitation/check');
    const answer = await check.send({ invitation: `a.${'A'.repeat(43)}` }).expect(200);
    expect(answer.body).toEqual({ kind: 'administrator' });
  });

  test('who leave need a new invitation to return', async () => {
    tokens['carol'] = (await api.login('carol@example.com', false)).token;
    const [, { invitation = '' } = {}] = (await send('post', '/members', { name: 'carol@example.com' })).body as {
      invitation?: string;
    }[];
    await request(api.app).post('/api/user/invitation').set('x-service-token', tokens['carol']).send({ invitation });
    await send('post', '/leave', undefined, 'carol').expect(200);
    await send('post', '/members', { name: 'carol@example.com' }).expect(201);
    await send('get', '', undefined, 'carol').expect(404);
  });

  test('that are added concurrently are both kept', async () => {
    await Promise.all(['bob', 'carol', 'dan'].map((name) => send('post', '/members', { name: `${name}@example.com` })));
    expect(group()?.spec.members).toHaveLength(4);
  });

  test('cannot be removed if only one remains', async () => {
    await send('delete', '/members/alice@example.com').expect(409);
    expect(group()?.spec.members).toEqual(['alice@example.com']);
  });
});

test('the only member who sees a group with repositories cannot leave, because invited people may never register', async () => {
  api.addRepository('acme', 'shop');
  await send('post', '/members', { name: 'nobody@example.com' }).expect(201);
  tokens['carol'] = (await api.login('carol@example.com', false)).token;
  await send('post', '/members', { name: 'carol@example.com' }).expect(201);
  await send('post', '/leave').expect(409);
  await send('delete', '/members/alice@example.com').expect(409);
  await send('post', '/members', { name: 'bob@example.com', role: 'owner' }).expect(201);
  await send('post', '/leave').expect(200);
  await send('get', '', undefined, 'bob').expect(200);
});

test.each([
  ['leave', (members: MemberService, left: Group, email: string) => members.leave(left, email, true)],
  [
    'remove themselves',
    (members: MemberService, left: Group, email: string) => members.remove(left, email, email, true),
  ],
])('remain at least one when the two who see a group with repositories %s at once', async (_how, leave) => {
  const users = ['alice', 'bob', 'nobody'].map((name) => `${name}@example.com`);
  const read = api.addGroup('shared', users);
  const members = new MemberService({
    cluster: api.cluster,
    cache: api.caches.groups,
    users: api.caches.users,
    usersNamespace: TEST_NAMESPACE,
    now: Date.now,
    randomBytes,
  });
  await leave(members, read, 'alice@example.com');
  await expect(leave(members, read, 'bob@example.com')).rejects.toThrow('has repositories');
});

describe('leave', () => {
  test('removes the caller from the group', async () => {
    await send('post', '/members', { name: 'bob@example.com', role: 'owner' }).expect(201);
    expect((await send('post', '/leave').expect(200)).body).toEqual({});
    expect(group()?.spec.members).toEqual(['bob@example.com']);
    await send('get', '').expect(404);
  });

  test('keeps one of two who leave a group with repositories at once', async () => {
    api.addRepository('acme', 'shop');
    await send('post', '/members', { name: 'bob@example.com' }).expect(201);
    const answers = await Promise.all(['alice', 'bob'].map((name) => send('post', '/leave', undefined, name)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(group()?.spec.members).toHaveLength(1);
  });

  test('answers 409 to the last member while there are repositories', async () => {
    api.addRepository('acme', 'shop');
    const answer = await send('post', '/leave').expect(409);
    expect(answer.body).toEqual({ error: expect.stringContaining('repositories') });
  });

  test('hides the group from the last member while it is being deleted', async () => {
    api.cluster.change(
      GROUP,
      { name: 'acme' },
      { metadata: { labels: { 'app.kubernetes.io/managed-by': 'coppice' } } },
    );
    api.cluster.delete = (type, at) => {
      api.cluster.change(type, at, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
      return Promise.resolve();
    };
    await send('post', '/leave').expect(200);
    expect(group()?.metadata.deletionTimestamp).toBeDefined();
    await send('get', '').expect(404);
  });

  test.each([
    ['deletes a group that the API created', 'coppice', undefined],
    ['keeps a group that somebody applied, without members', 'flux', []],
  ])('as the last member: %s', async (_name, manager, members) => {
    const labels = { 'app.kubernetes.io/managed-by': manager };
    api.cluster.change(GROUP, { name: 'acme' }, { metadata: { labels } });
    await send('post', '/leave').expect(200);
    expect(group()?.spec.members).toEqual(members);
  });
});

describe('roles', () => {
  const bob = '/members/bob@example.com';
  const alice = '/members/alice@example.com';
  const roles = async () => {
    const answer = await send('get', '/settings').expect(200);
    const { members } = answer.body as { members: { id: string; role: string }[] };
    return members.map(({ id, role }) => `${id} ${role}`);
  };
  beforeEach(async () => {
    await send('post', '/members', { name: 'bob@example.com' }).expect(201);
  });

  test("let a group's creator own it, and hand it over before leaving", async () => {
    const made = await request(api.app)
      .post('/api/groups')
      .set('x-service-token', tokens['alice'] ?? '')
      .send({ name: 'mine' })
      .expect(201);
    expect(made.body).toMatchObject({ id: 'mine' });
    expect(api.cluster.all<Group>(GROUP).find(({ metadata }) => metadata.name === 'mine')?.spec).toMatchObject({
      owners: ['alice@example.com'],
    });
    expect((await send('post', '/leave').expect(409)).text).toContain('First make another member an owner');
    const changed = await send('patch', bob, { role: 'owner' }).expect(200);
    expect(changed.body).toEqual([view('alice', 'owner'), { ...view('bob', 'owner'), ...open }]);
    await send('post', '/leave').expect(200);
    expect(group()?.spec).toMatchObject({ members: ['bob@example.com'], owners: ['bob@example.com'] });
  });

  test('do not let a new member remove owners, change roles, add owners or delete the group', async () => {
    await send('delete', alice, undefined, 'bob').expect(403);
    await send('patch', bob, { role: 'owner' }, 'bob').expect(403);
    await send('patch', alice, { role: 'member' }, 'bob').expect(403);
    await send('post', '/members', { name: 'carol@example.com', role: 'owner' }, 'bob').expect(403);
    await send('delete', '', undefined, 'bob').expect(403);
    expect(await roles()).toEqual(['alice@example.com owner', 'bob@example.com member']);
    await send('post', '/members', { name: 'carol@example.com' }, 'bob').expect(201);
    await send('delete', '/members/carol@example.com', undefined, 'bob').expect(200);
  });

  test('keep one of two owners who give up ownership at once', async () => {
    await send('patch', bob, { role: 'owner' }).expect(200);
    const answers = await Promise.all([
      send('patch', alice, { role: 'member' }),
      send('patch', bob, { role: 'member' }, 'bob'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(group()?.spec.owners).toHaveLength(1);
  });

  test('make a removed owner who returns a member', async () => {
    await send('patch', bob, { role: 'owner' }).expect(200);
    await send('delete', bob).expect(200);
    await send('post', '/members', { name: 'bob@example.com' }).expect(201);
    expect(await roles()).toEqual(['alice@example.com owner', 'bob@example.com member']);
  });

  test('cannot be set for someone who is not a member, or to an unknown value', async () => {
    await send('patch', '/members/nobody@example.com', { role: 'owner' }).expect(404);
    await send('patch', bob, { role: 'king' }).expect(422);
    await send('patch', bob, {}).expect(422);
  });
});

test('deletes a group', async () => {
  const answer = await send('delete', '').expect(202);
  expect(answer.body).toMatchObject({ id: 'acme' });
  expect(group()).toBeUndefined();
});
