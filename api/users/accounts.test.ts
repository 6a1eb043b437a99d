import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP, type Group } from '../../crds/group.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';
import { Accounts, type AccountOptions } from './accounts.ts';
import { inviteToGroup } from '../user-records/group-invitation.ts';

const bob = { email: 'bob@example.com', password: 'correct horse' };

let api: TestApi;
let root: string;
beforeEach(async () => {
  api = new TestApi();
  root = (await api.login('root@example.com')).token;
});

type Method = 'get' | 'post' | 'delete';
const send = (method: Method, path: string, token: string, body?: object) =>
  request(api.app)[method](path).set('x-service-token', token).send(body);
const register = (body: object) => request(api.app).post('/api/user/register').send(body);
const login = async (body: object = bob) =>
  ((await request(api.app).post('/api/user/login').send(body).expect(200)).body as { token: string }).token;
const groupsOf = async (token: string) =>
  ((await send('get', '/api/groups', token).expect(200)).body as { id: string }[]).map(({ id }) => id);
const invite = async (email = bob.email) =>
  ((await send('post', '/api/users', root, { email }).expect(201)).body as { invitation: string }).invitation;
const close = () => {
  api = new TestApi({ registration: { mode: 'closed', domains: [], provesAddress: false } });
};

/** Adds a group that invites bob. @returns his invitation. */
function addGroup(name = 'acme', email = bob.email): string {
  const group = api.addGroup(name, ['alice@example.com', email]);
  const { invitation, annotations } = inviteToGroup(
    group,
    email,
    { email: 'ada@example.com', accountId: 'a' },
    api.now,
    (size) => Buffer.alloc(size, name),
  );
  api.cluster.change<Group>(GROUP, { name }, { metadata: { annotations } });
  return invitation;
}

describe('an invitation to a group', () => {
  test('opens only that group to the user who registers with it', async () => {
    const invitation = addGroup();
    addGroup('other');
    await register({ ...bob, invitation }).expect(201);
    expect(await groupsOf(await login())).toEqual(['acme', 'bob']);
    await send('get', '/api/group/other', await login()).expect(404);
  });

  test('opens the group to a user who is logged in', async () => {
    const invitation = addGroup();
    await register(bob).expect(201);
    const token = await login();
    expect(await groupsOf(token)).toEqual(['bob']);
    await send('post', '/api/user/invitation', token, { invitation }).expect(200);
    expect(await groupsOf(token)).toEqual(['acme', 'bob']);
    await send('post', '/api/user/invitation', token, { invitation }).expect(422);
  });

  test('is valid only for its address, and does not override the registration policy', async () => {
    const invitation = addGroup();
    await register({ ...bob, email: 'mallory@example.com', invitation }).expect(422);
    await register({ ...bob, invitation: 'g.acme.x' }).expect(422);
    await register({ ...bob, email: 'mallory@example.com' }).expect(201);
    const mallory = await login({ ...bob, email: 'mallory@example.com' });
    await send('post', '/api/user/invitation', mallory, { invitation }).expect(422);
    close();
    const closed = addGroup();
    await register({ ...bob, invitation: closed }).expect(403);
  });
});

describe('registering with an invitation that cannot be accepted creates no account', () => {
  const emails = async () =>
    ((await send('get', '/api/users', root)).body as { email: string }[]).map((one) => one.email);

  test('if the cluster refuses the write; the user can try again', async () => {
    const invitation = addGroup();
    api.cluster.patchFailures.set('Group', new ApiError('patch', 503, 'ServiceUnavailable', 'busy'));
    await register({ ...bob, invitation }).expect(503);
    expect(await emails()).toEqual(['root@example.com']);
    api.cluster.patchFailures.clear();
    await register({ ...bob, invitation }).expect(201);
    expect(await groupsOf(await login())).toEqual(['acme', 'bob']);
  });

  test('if the invitation was withdrawn at the same time', async () => {
    const invitation = addGroup();
    const create = api.cluster.create.bind(api.cluster);
    api.cluster.create = (type, object) => {
      api.cluster.change<Group>(GROUP, { name: 'acme' }, { spec: { members: ['alice@example.com'] } });
      return create(type, object);
    };
    await register({ ...bob, invitation }).expect(422);
    expect(await emails()).toEqual(['root@example.com']);
    expect(api.cluster.all<Group>(GROUP).map(({ metadata }) => metadata.name)).toEqual(['acme']);
  });
});

describe('an administrator', () => {
  test('adds a user, who registers with the invitation while registration is closed, and is a member at once', async () => {
    close();
    root = (await api.login('root@example.com')).token;
    addGroup();
    const invitation = await invite();
    expect((await send('get', '/api/users', root)).body).toEqual([
      { email: bob.email, verified: false, invited: true, administrator: false },
      { email: 'root@example.com', verified: true, invited: false, administrator: true },
    ]);
    await register(bob).expect(403);
    await register({ ...bob, email: 'mallory@example.com', invitation }).expect(403);
    await request(api.app).post('/api/user/login').send({ email: bob.email, password: '' }).expect(401);
    await register({ ...bob, invitation }).expect(201);
    expect(await groupsOf(await login())).toEqual(['acme', 'bob']);
    await register({ ...bob, invitation }).expect(403);
    await send('post', '/api/users', root, { email: bob.email }).expect(409);
  });

  test('returns an address to its owner: nothing remains of an account that did not prove it', async () => {
    addGroup();
    await register({ ...bob, password: 'mallory was here' }).expect(201);
    const mallory = await login({ ...bob, password: 'mallory was here' });
    const created = await send('post', '/api/user/tokens', mallory, {
      name: 'ci',
      expirationTime: '2027-01-01T00:00:00Z',
    });
    const { token } = created.body as { token: string };
    const invitation = await invite();
    await send('get', '/api/user/info', token).expect(200);
    await register({ ...bob, invitation }).expect(201);
    await send('get', '/api/user/info', token).expect(401);
    await send('get', '/api/user/info', mallory).expect(401);
    await request(api.app)
      .post('/api/user/login')
      .send({ ...bob, password: 'mallory was here' })
      .expect(401);
    expect(await groupsOf(await login())).toEqual(['acme', 'bob']);
  });

  test('verifies the address of a user who is logged in', async () => {
    addGroup();
    await register(bob).expect(201);
    const token = await login();
    const invitation = await invite();
    await send('post', '/api/user/invitation', token, { invitation }).expect(200);
    expect(await groupsOf(token)).toEqual(['acme', 'bob']);
    await send('post', '/api/user/invitation', token, { invitation }).expect(422);
  });

  test('is answered 409 when removing an account whose invitation is being registered', async () => {
    const invitation = await invite();
    const find = api.cluster.find.bind(api.cluster);
    api.cluster.find = async (type, at) => {
      const found = await find(type, at);
      if (type.kind === 'Secret' && found) api.cluster.remove(Secret, at);
      return found;
    };
    const answer = await register({ ...bob, invitation }).expect(409);
    expect(answer.body).toEqual({ error: 'the account was removed or replaced at the same time. Log in again' });
  });

  test('invites for a week', async () => {
    const late = await invite();
    api.now += 7 * 24 * 3600 * 1000;
    await register({ ...bob, invitation: late }).expect(422);
  });

  test('removes a user with logins, tokens and memberships; a later account of the address inherits none', async () => {
    const invitation = addGroup();
    api.addGroup('single', [bob.email]);
    api.cluster.change(GROUP, { name: 'single' }, { metadata: { labels: null } });
    await register({ ...bob, invitation }).expect(201);
    const session = await login();
    const created = await send('post', '/api/user/tokens', session, {
      name: 'ci',
      expirationTime: '2027-01-01T00:00:00Z',
    });
    const { token } = created.body as { token: string };
    const removed = await send('delete', '/api/users/Bob@example.com', root).expect(200);
    expect(removed.body).toEqual({ email: bob.email, groupsWithoutMembers: ['single'] });
    await send('get', '/api/user/info', session).expect(401);
    await send('get', '/api/user/info', token).expect(401);
    expect(api.cluster.all<Group>(GROUP).map(({ metadata, spec }) => [metadata.name, spec.members])).toEqual([
      ['acme', ['alice@example.com']],
      ['single', []],
    ]);
    await send('delete', '/api/users/bob@example.com', root).expect(404);
    await register({ ...bob, invitation: await invite() }).expect(201);
    expect(await groupsOf(await login())).toEqual(['bob']);
  });

  test('is a user whose verified address the chart names; others get 404', async () => {
    const unproven = (await api.login('bob@example.com', false)).token;
    const other = new TestApi({ administrators: ['bob@example.com'] });
    const squatter = (await other.login('bob@example.com', false)).token;
    for (const [app, token] of [
      [api.app, unproven],
      [other.app, squatter],
    ] as const) {
      for (const [method, path] of [
        ['get', '/api/users'],
        ['post', '/api/users'],
        ['delete', '/api/users/root@example.com'],
      ] as const) {
        const answer = await request(app)[method](path).set('x-service-token', token).expect(404);
        expect(answer.body).toEqual({
          error: 'there is no such resource, or you cannot see it. GET /api/docs describes all addresses',
        });
      }
    }
  });

  test('cannot be removed while the chart names them, and cannot use API tokens for lasting changes', async () => {
    await send('delete', '/api/users/root@example.com', root).expect(409);
    const created = await send('post', '/api/user/tokens', root, {
      name: 'ci',
      expirationTime: '2027-01-01T00:00:00Z',
    });
    const { token } = created.body as { token: string };
    await send('get', '/api/users', token).expect(200);
    await send('post', '/api/users', token, { email: bob.email }).expect(403);
    await send('delete', '/api/users/bob@example.com', token).expect(403);
  });
});

describe('the password', () => {
  const change = (token: string, body: object) => send('post', '/api/user/password', token, body);
  const right = { currentPassword: bob.password, newPassword: 'another horse' };

  test('is changed: other logins end, this one and API tokens stay', async () => {
    await register(bob).expect(201);
    const [here, there] = [await login(), await login()];
    const created = await send('post', '/api/user/tokens', here, {
      name: 'ci',
      expirationTime: '2027-01-01T00:00:00Z',
    });
    const { token } = created.body as { token: string };
    await change(here, right).expect(200);
    await send('get', '/api/user/info', there).expect(401);
    await send('get', '/api/user/info', here).expect(200);
    await send('get', '/api/user/info', token).expect(200);
    await request(api.app).post('/api/user/login').send(bob).expect(401);
    await login({ ...bob, password: right.newPassword });
  });

  test('is changed only with the current one, by a login, while Redis responds', async () => {
    await register(bob).expect(201);
    const token = await login();
    await change(token, { ...right, currentPassword: 'wrong' }).expect(403);
    await change(token, { ...right, newPassword: 'short' }).expect(422);
    const created = await send('post', '/api/user/tokens', token, {
      name: 'ci',
      expirationTime: '2027-01-01T00:00:00Z',
    });
    await change((created.body as { token: string }).token, right).expect(403);
    await login();
  });
});

test('takes as long for an address without an account, so that nobody learns which have one', async () => {
  const verified: [string, string | undefined][] = [];
  const accounts = new Accounts({
    users: { readByEmail: () => Promise.resolve(undefined) },
    attempts: { count: () => Promise.resolve() },
    passwords: {
      verify: (password: string, hash: string | undefined) => {
        verified.push([password, hash]);
        return Promise.resolve(false);
      },
    },
  } as unknown as AccountOptions);
  await expect(accounts.login(bob)).rejects.toThrow('the e-mail address or the password is wrong');
  expect(verified).toEqual([[bob.password, undefined]]);
});
