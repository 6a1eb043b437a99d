import { beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { TestApi } from '../testing/test-api.ts';
import { TEST_ORIGIN } from '../testing/test-options.ts';

const account = { email: 'ada@example.com', password: 'correct horse battery' };

describe('a login with a cookie', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = new TestApi({ administrators: [account.email] });
    await request(api.app).post('/api/user/register').send(account).expect(201);
  });
  const login = (headers: Record<string, string>, body: object = { ...account, cookie: true }) =>
    request(api.app).post('/api/user/login').set(headers).send(body);

  test("is set for a page of the API's own origin, and logs in", async () => {
    const answer = await login({ Origin: TEST_ORIGIN }).expect(200);
    const [cookie = ''] = answer.headers['set-cookie'] as unknown as string[];
    expect(cookie).toMatch(/^token=[^;]+; Max-Age=2592000; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
    const info = await request(api.app)
      .get('/api/user/info')
      .set('Cookie', cookie.split(';')[0] ?? '');
    expect(info.body).toMatchObject({ email: account.email });
  });

  test.each<Record<string, string>>([
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'same-site' },
    {},
  ])('is refused with %p, whatever the password', async (headers) => {
    const answer = await login(headers).expect(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
    await login(headers, { ...account, password: 'wrong', cookie: true }).expect(403);
  });

  test('is not set unless requested', async () => {
    const answer = await login({ Origin: TEST_ORIGIN }, account).expect(200);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

test('returns the login methods without a login', async () => {
  const answer = await request(new TestApi().app).get('/api/user/login-methods').expect(200);
  expect(answer.body).toEqual({ registration: 'open' });
});

test('marks administrators only', async () => {
  const api = new TestApi({ administrators: ['root@example.com'] });
  const infoOf = async (email: string) => {
    const { token } = await api.login(email);
    return (await request(api.app).get('/api/user/info').set('X-SERVICE-TOKEN', token)).body as object;
  };
  expect(await infoOf('root@example.com')).toHaveProperty('administrator', true);
  expect(await infoOf('ada@example.com')).not.toHaveProperty('administrator');
});

test('returns a repository without its environments on request', async () => {
  const { api, token } = await TestApi.withShop();
  api.addEnvironment('acme', 'shop-main', 'shop');
  const answer = await request(api.app)
    .get('/api/repository/acme.shop?environments=false')
    .set('X-SERVICE-TOKEN', token)
    .expect(200);
  expect(answer.body).toMatchObject({ id: 'acme.shop', environments: [] });
});
