import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { OIDC_CLIENT, OIDC_ISSUER, OidcProvider } from '../../testing/oidc-provider.ts';
import { TestApi } from '../../testing/test-api.ts';
import { TEST_ORIGIN } from '../../testing/test-options.ts';
import { userOf } from '../../user-records/user-record.ts';

const ann = { email: 'Ann@example.com', email_verified: true };
const oidc = { issuer: new URL(OIDC_ISSUER), ...OIDC_CLIENT, landingPage: '/api/docs' };

let provider: OidcProvider;
let api: TestApi;
beforeAll(async () => {
  provider = new OidcProvider(`${TEST_ORIGIN}/api/user/oidc/callback`);
  await provider.start();
});
afterAll(() => provider.stop());
beforeEach(() => {
  provider.people.clear();
  provider.people.set('1', ann);
  provider.subject = '1';
  api = newApi();
});

function newApi(config: ConstructorParameters<typeof TestApi>[0] = {}): TestApi {
  return new TestApi({ oidc, ...config }, undefined, undefined, provider.fetch);
}

/** Returns the cookie that a browser would store from a response. */
function cookieOf(answer: request.Response, name: string): string | undefined {
  const lines: unknown[] = [answer.headers['set-cookie'] ?? []].flat();
  return lines.map(String).find((line) => line.startsWith(`${name}=`));
}

async function start(): Promise<{ url: string; cookie: string }> {
  const answer = await request(api.app).get('/api/user/oidc/login').expect(303);
  return { url: answer.headers['location'] ?? '', cookie: (cookieOf(answer, 'oidc-login') ?? '').split(';')[0] ?? '' };
}

function comeBack(back: URL, cookie: string) {
  return request(api.app).get(`${back.pathname}${back.search}`).set('cookie', cookie);
}

/** Completes a login. @returns the response of the callback. */
async function logIn(status: number): Promise<request.Response> {
  const { url, cookie } = await start();
  const answer = await comeBack(await provider.visit(url), cookie);
  expect([answer.status, answer.text]).toEqual([status, answer.text]);
  return answer;
}

async function infoOf(answer: request.Response): Promise<unknown> {
  const cookie = (cookieOf(answer, 'token') ?? '').split(';')[0] ?? '';
  return (await request(api.app).get('/api/user/info').set('cookie', cookie).expect(200)).body;
}

const register = (body: object) => request(api.app).post('/api/user/register').send(body);

describe('a login', () => {
  test('creates the account and sets the cookie, which logout clears', async () => {
    const answer = await logIn(303);
    expect(answer.headers['location']).toBe('/api/docs');
    const cookie = cookieOf(answer, 'token') ?? '';
    expect(
      cookie
        .split('; ')
        .slice(1)
        .filter((part) => !part.startsWith('Expires'))
        .sort(),
    ).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax', 'Secure']);
    expect(await infoOf(answer)).toEqual({ email: 'ann@example.com', apiTokens: [] });
    const token = cookie.split(';')[0] ?? '';
    await request(api.app).post('/api/user/logout').set('cookie', token).expect(403);
    const bye = await request(api.app).post('/api/user/logout').set({ cookie: token, origin: TEST_ORIGIN }).expect(200);
    expect(cookieOf(bye, 'token')).toMatch(/^token=;.*Expires=Thu, 01 Jan 1970/);
    await request(api.app).get('/api/user/info').set('cookie', token).expect(401);
  });

  test('verifies the address, so that groups that name it open', async () => {
    api.addGroup('acme', ['ann@example.com']);
    const cookie = (cookieOf(await logIn(303), 'token') ?? '').split(';')[0] ?? '';
    const groups = await request(api.app).get('/api/groups').set('cookie', cookie).expect(200);
    expect(groups.body).toMatchObject([{ id: 'acme' }, { id: 'ann' }]);
  });

  test('uses a link with PKCE, state and nonce, and keeps its secrets on the server', async () => {
    const { url } = await start();
    const parameters = new URL(url).searchParams;
    expect(Object.fromEntries(parameters)).toMatchObject({
      code_challenge_method: 'S256',
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: `${TEST_ORIGIN}/api/user/oidc/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(parameters.get(name)).toHaveLength(43);
    expect([...api.redis.entries.keys()].join()).not.toContain(parameters.get('state'));
  });

  test('is answered 401 if the provider refuses it', async () => {
    provider.subject = undefined;
    expect((await logIn(401)).body).toEqual({
      error:
        'the OpenID Connect provider refused the login: access_denied. Start again, or ask an administrator to check the client there',
    });
  });

  test('is completed once: a repeated callback is refused', async () => {
    const { url, cookie } = await start();
    const back = await provider.visit(url);
    await comeBack(back, cookie).expect(303);
    await comeBack(back, cookie).expect(401);
  });

  test('expires after ten minutes', async () => {
    const { url, cookie } = await start();
    const back = await provider.visit(url);
    api.now += 10 * 60 * 1000;
    await comeBack(back, cookie).expect(401);
  });

  test('belongs to the browser that started it', async () => {
    const [mine, other] = [await start(), await start()];
    await comeBack(await provider.visit(mine.url), other.cookie).expect(401);
    const { url } = await start();
    await comeBack(await provider.visit(url), '').expect(401);
  });

  test.each([
    ['a state that was never issued', 'state'],
    ['no code', 'code'],
  ])('is answered 401 with %s', async (_name, parameter) => {
    const { url, cookie } = await start();
    const back = await provider.visit(url);
    back.searchParams.set(parameter, 'x');
    await comeBack(back, cookie).expect(401);
  });

  test('is answered 422 without a state', async () => {
    await request(api.app).get('/api/user/oidc/callback').expect(422);
  });

  test.each([
    ['nonce', 'the ID token is of another login'],
    ['code_challenge', 'the code is of another login'],
  ])("is answered 401 if the %s is not the API's", async (parameter) => {
    const { url, cookie } = await start();
    const changed = new URL(url);
    changed.searchParams.set(parameter, 'A'.repeat(43));
    const answer = await comeBack(await provider.visit(changed.href), cookie).expect(401);
    expect((answer.body as { error: string }).error).toContain('does not belong to this login');
  });

  test('is answered 403 for an address that is not verified', async () => {
    provider.people.set('1', { ...ann, email_verified: false });
    await logIn(403);
    provider.people.set('1', { email_verified: true });
    await logIn(403);
    expect(api.cluster.all(Secret)).toEqual([]);
  });

  test('is answered 403 while registration is closed, except for an administrator', async () => {
    api = newApi({ registration: { mode: 'closed', domains: [], provesAddress: false } });
    await logIn(403);
    provider.people.set('1', { email: 'root@example.com', email_verified: true });
    const cookie = (cookieOf(await logIn(303), 'token') ?? '').split(';')[0] ?? '';
    await request(api.app).get('/api/users').set('cookie', cookie).expect(200);
  });

  test('is answered 503 if the provider cannot be reached', async () => {
    api = new TestApi({ oidc }, undefined, undefined, () => Promise.reject(new TypeError('fetch failed')));
    await request(api.app).get('/api/user/oidc/login').expect(503);
  });

  test('does not exist without a provider', async () => {
    api = new TestApi();
    await request(api.app).get('/api/user/oidc/login').expect(400);
  });
});

describe('the account', () => {
  const users = () => api.cluster.all<Secret>(Secret).map(userOf);

  test('is found by issuer and subject, whatever the address is at the provider', async () => {
    await logIn(303);
    provider.people.set('1', { email: 'other@example.com', email_verified: true });
    expect(await infoOf(await logIn(303))).toMatchObject({ email: 'ann@example.com' });
    expect(users()).toMatchObject([{ identity: { issuer: OIDC_ISSUER, subject: '1' } }]);
  });

  test('is not taken over by another user who changes their address at the provider', async () => {
    await logIn(303);
    provider.people.set('2', ann);
    provider.subject = '2';
    expect((await logIn(409)).text).toContain("another person's account");
  });

  test('is linked if its address was verified', async () => {
    await api.login('ann@example.com');
    await logIn(303);
    expect(users()).toMatchObject([{ identity: { subject: '1' }, passwordHash: 'none' }]);
  });

  test('without a verified address is emptied and given to the owner of the address', async () => {
    const mallory = { email: 'ann@example.com', password: 'mallory was here' };
    await register(mallory).expect(201);
    const login = await request(api.app).post('/api/user/login').send(mallory).expect(200);
    const answer = await logIn(303);
    expect(await infoOf(answer)).toEqual({ email: 'ann@example.com', apiTokens: [] });
    await request(api.app).post('/api/user/login').send(mallory).expect(401);
    const { token } = login.body as { token: string };
    await request(api.app).get('/api/user/info').set('x-service-token', token).expect(401);
  });

  test('has no password to log in with, or to change', async () => {
    const cookie = (cookieOf(await logIn(303), 'token') ?? '').split(';')[0] ?? '';
    await request(api.app).post('/api/user/login').send({ email: 'ann@example.com', password: '' }).expect(401);
    const change = { currentPassword: '', newPassword: 'correct horse' };
    await request(api.app).post('/api/user/password').set({ cookie, origin: TEST_ORIGIN }).send(change).expect(409);
  });
});

test('sets cookies over https that no other host can set, and clears both at logout', async () => {
  const origin = 'https://coppice.example';
  api = newApi({ ownOrigin: origin });
  const started = await request(api.app).get('/api/user/oidc/login').expect(303);
  expect(cookieOf(started, '__Host-oidc-login')).toMatch(/; Path=\/;.*HttpOnly; Secure; SameSite=Lax$/);
  expect(cookieOf(started, 'oidc-login')).toBeUndefined();

  const { token } = await api.login('alice@example.com');
  const cookie = `token=set-by-an-environment; __Host-token=${token}`;
  await request(api.app).get('/api/user/info').set({ cookie }).expect(200);
  const bye = await request(api.app).post('/api/user/logout').set({ cookie, origin }).expect(200);
  for (const name of ['token', '__Host-token']) expect(cookieOf(bye, name)).toMatch(/=; .*Expires=Thu, 01 Jan 1970/);
  await request(api.app).get('/api/user/info').set({ cookie }).expect(401);
});

test('ignores two cookies of one name, also in the callback of a login', async () => {
  const { url, cookie } = await start();
  await comeBack(await provider.visit(url), `${cookie}; oidc-login=of-another-host`).expect(401);
  const { token } = await api.login('alice@example.com');
  const twice = `token=${token}; token=of-another-host`;
  const answer = await request(api.app).get('/api/user/info').set('cookie', twice).expect(401);
  expect(answer.body).toEqual({ error: expect.stringContaining('two cookies') });
});
