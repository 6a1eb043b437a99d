import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import request from 'supertest';
import { Directory } from '../auth/visibility.ts';
import { Passwords } from '../auth/passwords.ts';
import { Memberships } from '../groups/memberships.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_NAMESPACE } from '../testing/test-options.ts';
import { ensureAdministrator } from './first-administrator.ts';
import { UserStore } from '../auth/user-store.ts';

const root = { email: 'root@example.com', password: 'correct horse' };
const passwords = new Passwords(randomBytes, { ln: 4, r: 8, p: 1 });

function start(api: TestApi, given = root) {
  const users = new UserStore(api.cluster, api.caches.users, TEST_NAMESPACE);
  const { cluster, caches } = api;
  const memberships = new Memberships({ cluster, cache: caches.groups, directory: new Directory(caches) });
  return ensureAdministrator(given, users, memberships, passwords, randomBytes);
}
const login = (api: TestApi, password: string) =>
  request(api.app).post('/api/user/login').send({ email: root.email, password });

test('creates the account once among two replicas, and does not change it at later starts', async () => {
  const api = new TestApi();
  expect((await Promise.all([start(api), start(api)])).sort()).toEqual([false, true]);
  const { token } = (await login(api, root.password).expect(200)).body as { token: string };
  await request(api.app).get('/api/users').set('x-service-token', token).expect(200);
  expect(await start(api, { ...root, password: 'another horse' })).toBe(false);
  await login(api, root.password).expect(200);
});

test('removes what somebody else registered under the address before', async () => {
  const api = new TestApi();
  await request(api.app)
    .post('/api/user/register')
    .send({ ...root, password: 'mallory was here' })
    .expect(201);
  const { token } = (await login(api, 'mallory was here').expect(200)).body as { token: string };
  const members = { name: 'mallory@example.com' };
  await request(api.app).post('/api/group/root/members').set('x-service-token', token).send(members).expect(201);
  expect(await start(api)).toBe(true);
  expect(api.caches.groups.get('root')?.spec.members).toEqual([members.name]);
  await login(api, 'mallory was here').expect(401);
  await login(api, root.password).expect(200);
  await request(api.app).get('/api/user/info').set('x-service-token', token).expect(401);
});
