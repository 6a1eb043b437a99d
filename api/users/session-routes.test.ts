import { beforeEach, expect, test } from '@jest/globals';
import request from 'supertest';
import { TestApi } from '../testing/test-api.ts';

const path = '/api/user/sessions';
const account = { email: 'ada@example.com', password: 'a long password' };

let api: TestApi;

beforeEach(async () => {
  api = new TestApi();
  await request(api.app).post('/api/user/register').send(account).expect(201);
});

async function login(client: string): Promise<string> {
  const answer = await request(api.app).post('/api/user/login').set('User-Agent', client).send(account).expect(200);
  return (answer.body as { token: string }).token;
}

const as = (token: string, sent: request.Test) => sent.set('X-Service-Token', token);

interface Listed {
  id: string;
  client?: string;
  current?: true;
}

async function listed(token: string): Promise<Listed[]> {
  const answer = await as(token, request(api.app).get(path)).expect(200);
  return answer.body as Listed[];
}

test('lists the logins of the account with their programs, the one of the request marked', async () => {
  const first = await login('a browser');
  api.now += 3600_000;
  const second = await login('y'.repeat(500));
  await api.login('mallory@example.com');
  const [one, other, ...more] = await listed(first);
  expect(more).toEqual([]);
  expect([one, other]).toMatchObject([{ client: 'y'.repeat(200) }, { client: 'a browser', current: true }]);
  expect(one?.current).toBeUndefined();
  expect(await listed(second)).toMatchObject([{ current: true }, { client: 'a browser' }]);
});

test('contains nothing with which one could log in', async () => {
  const token = await login('a browser');
  const answer = await as(token, request(api.app).get(path)).expect(200);
  const id = (await listed(token))[0]?.id ?? '';
  expect(answer.text).not.toContain(token);
  await as(id, request(api.app).get(path)).expect(401);
});

test('ends one login, and no other', async () => {
  const [first, second] = [await login('one'), await login('two')];
  const id = (await listed(first)).find(({ client }) => client === 'two')?.id ?? '';
  await as(first, request(api.app).delete(`${path}/${id}`)).expect(200);
  await as(second, request(api.app).get(path)).expect(401);
  expect(await listed(first)).toHaveLength(1);
  await as(first, request(api.app).delete(`${path}/${id}`)).expect(404);
});

test("another account's login cannot be ended", async () => {
  const token = await login('one');
  const id = (await listed(token))[0]?.id ?? '';
  const { token: mallory } = await api.login('mallory@example.com');
  await as(mallory, request(api.app).delete(`${path}/${id}`)).expect(404);
  await as(token, request(api.app).get(path)).expect(200);
});

test('does not list logins that have expired', async () => {
  await login('old');
  api.now += 24 * 3600_000;
  expect(await listed(await login('new'))).toMatchObject([{ client: 'new', current: true }]);
});
