import { beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP, type Group } from '../../crds/group.ts';
import { TestApi } from '../testing/test-api.ts';

const bob = { email: 'bob@example.com', password: 'correct horse' };
const squatter = { ...bob, password: 'mallory was here' };
const mallory = { email: 'mallory@example.com', password: 'mallory was here' };

let api: TestApi;
/** Tokens of the account that had bob's address before him, and of another account of the same person. */
let tokens: { bob: string; mallory: string };
beforeEach(async () => {
  api = new TestApi();
  for (const account of [squatter, mallory]) await register(account).expect(201);
  tokens = { bob: await login(squatter), mallory: await login(mallory) };
});

const send = (method: 'get' | 'post', path: string, token: string, body?: object) =>
  request(api.app)[method](path).set('x-service-token', token).send(body);
const register = (body: object) => request(api.app).post('/api/user/register').send(body);
const login = async (body: object) =>
  ((await request(api.app).post('/api/user/login').send(body).expect(200)).body as { token: string }).token;
const groupsOf = async (token: string) =>
  ((await send('get', '/api/groups', token).expect(200)).body as { id: string }[]).map(({ id }) => id);

/** Adds mallory to a group of bob's address. */
async function letMalloryIn(group: string): Promise<void> {
  const added = await send('post', `/api/group/${group}/members`, tokens.bob, { name: mallory.email }).expect(201);
  const { invitation } = (added.body as { invitation?: string }[]).find((one) => one.invitation !== undefined) ?? {};
  await send('post', '/api/user/invitation', tokens.mallory, { invitation }).expect(200);
}

/** Bob accepts an administrator's invitation. @returns his token. */
async function comeAsOwner(): Promise<string> {
  const root = (await api.login('root@example.com')).token;
  const invited = await send('post', '/api/users', root, { email: bob.email }).expect(201);
  await register({ ...bob, invitation: (invited.body as { invitation: string }).invitation }).expect(201);
  return login(bob);
}

test('does not add the owner of the address to groups of the account that registered it before', async () => {
  await letMalloryIn('bob');
  await send('post', '/api/groups', tokens.bob, { name: 'shared' }).expect(201);
  await letMalloryIn('shared');
  const owner = await comeAsOwner();
  const [own = '', ...others] = await groupsOf(owner);
  expect([own, others]).toEqual([expect.stringMatching(/^bob-[a-z0-9]{5}$/), []]);
  await send('get', `/api/group/${own}`, tokens.mallory).expect(404);
  expect(await groupsOf(tokens.mallory)).toEqual(['bob', 'mallory', 'shared']);
});

test('deletes groups without other members, and keeps one with repositories, without members', async () => {
  await send('post', '/api/groups', tokens.bob, { name: 'built' }).expect(201);
  api.addRepository('built', 'shop');
  expect(await groupsOf(await comeAsOwner())).toEqual(['bob']);
  const members = api.cluster.all<Group>(GROUP).map(({ metadata, spec }) => [metadata.name, spec.members]);
  expect(Object.fromEntries(members)).toEqual({ bob: [bob.email], built: [], mallory: [mallory.email] });
});

test('keeps the account if its groups cannot be left', async () => {
  await letMalloryIn('bob');
  api.cluster.patchFailures.set('Group', new Error('the API server is away'));
  await expect(comeAsOwner()).rejects.toThrow();
  api.cluster.patchFailures.clear();
  await login(squatter);
});
