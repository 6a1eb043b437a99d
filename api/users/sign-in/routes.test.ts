import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { TestApi } from '../../testing/test-api.ts';
import { TEST_NAMESPACE, UNLIMITED } from '../../testing/test-options.ts';
import { tokenHash } from '../../shared/tokens.ts';
import { typedCode } from './grants.ts';

const verifier = 'v'.repeat(43);
const challenge = createHash('sha256').update(verifier).digest('base64url');
const state = 's'.repeat(32);
const minute = 60_000;

let api: TestApi;
let token: string;

beforeEach(async () => {
  api = new TestApi();
  ({ token } = await api.login('alice@example.com'));
});

const open = (path: string, body: object) => request(api.app).post(path).send(body);
const own = (path: string, body: object, as = token) => open(path, body).set('x-service-token', as);
const info = (as: string) => request(api.app).get('/api/user/info').set('x-service-token', as);

interface Started {
  deviceCode: string;
  userCode: string;
}
const start = async () => (await open('/api/user/device', {}).expect(200)).body as Started;
const poll = ({ deviceCode }: Started) => open('/api/user/device/token', { deviceCode });
const decide = ({ userCode }: Pick<Started, 'userCode'>, approve = true) =>
  own('/api/user/device/decision', { userCode, approve });

/** Changes the password as another replica would. */
function changePassword(): void {
  const [user] = api.cluster.all<Secret>(Secret);
  const data = { passwordHash: Buffer.from('another').toString('base64') };
  api.cluster.change(Secret, { namespace: TEST_NAMESPACE, name: user?.metadata.name ?? '' }, { data });
}

describe('a device', () => {
  test('is signed in once after its code was typed, in any spelling', async () => {
    const device = await start();
    expect(device.userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect((await poll(device).expect(200)).body).toEqual({ status: 'pending' });
    const typed = device.userCode.toLowerCase().replace('-', ' ');
    const checked = await own('/api/user/device/check', { userCode: typed }).expect(200);
    expect(checked.body).toMatchObject({ address: expect.stringContaining('127.0.0.1'), isOwnAddress: true });
    await decide({ userCode: typed }).expect(200);
    const decision = (await poll(device).expect(200)).body as { status: string; token: string };
    expect(decision.status).toBe('approved');
    expect((await info(decision.token).expect(200)).body).toMatchObject({ email: 'alice@example.com' });
    await poll(device).expect(404);
    await decide(device).expect(404);
  });

  test('gets nothing if the login that approved it has ended', async () => {
    const device = await start();
    await decide(device).expect(200);
    await own('/api/user/logout', {}).expect(200);
    expect((await poll(device).expect(401)).body).toMatchObject({
      error: expect.stringContaining('its login has ended'),
    });
  });

  test('gets nothing if it is denied', async () => {
    const device = await start();
    await decide(device, false).expect(200);
    expect((await poll(device)).body).toEqual({ status: 'denied' });
    await poll(device).expect(404);
  });

  test('gets nothing after 10 minutes, or if nobody fetches the approval within a minute', async () => {
    const late = await start();
    const unfetched = await start();
    await decide(unfetched).expect(200);
    api.now += minute;
    await poll(unfetched).expect(404);
    api.now += 9 * minute;
    await decide(late).expect(404);
    await poll(late).expect(404);
  });

  test('gets nothing if the password was changed after the approval', async () => {
    const device = await start();
    await decide(device).expect(200);
    changePassword();
    await poll(device).expect(401);
  });

  test('cannot be approved with an API token, or without a login', async () => {
    const device = await start();
    const made = await own('/api/user/tokens', { name: 'ci', expirationTime: '2026-02-01T00:00:00Z' });
    const { token: apiToken } = made.body as { token: string };
    await own('/api/user/device/decision', { userCode: device.userCode, approve: true }, apiToken).expect(403);
    await own('/api/user/authorizations', { port: 4711, challenge, state }, apiToken).expect(403);
    await open('/api/user/device/decision', { userCode: device.userCode, approve: true }).expect(400);
    expect((await poll(device)).body).toEqual({ status: 'pending' });
  });

  test('has no address with its code, which a stranger could send as a link', async () => {
    const answer = await open('/api/user/device', {});
    const { userCode, ...rest } = answer.body as Started;
    expect(JSON.stringify(rest)).not.toContain(typedCode(userCode));
    expect(JSON.stringify(rest)).not.toContain(userCode);
  });

  test('is stored without its secrets', async () => {
    const device = await start();
    const stored = JSON.stringify([...api.redis.entries]);
    expect(stored).not.toContain(device.deviceCode);
    expect(stored).not.toContain(typedCode(device.userCode));
  });
});

test('codes cannot be guessed: a user has 10 attempts per minute', async () => {
  api = new TestApi({ limits: { loginsPerMinute: 10, requestsPerMinute: 1000 } });
  ({ token } = await api.login('alice@example.com'));
  const statuses: number[] = [];
  for (let tries = 0; tries < 12; tries++) statuses.push((await decide({ userCode: 'BBBBBBBB' })).status);
  expect(statuses).toEqual([...Array<number>(10).fill(404), 429, 429]);
});

test('waiting devices are limited by address, and in all', async () => {
  api = new TestApi({ limits: { loginsPerMinute: 1, requestsPerMinute: 1000 } });
  const statuses: number[] = [];
  for (let tries = 0; tries < 13; tries++) statuses.push((await open('/api/user/device', {})).status);
  expect(statuses).toEqual([...Array<number>(12).fill(200), 429]);
  api = new TestApi(UNLIMITED);
  const window = `coppice:device-count:${Math.floor(api.now / (10 * minute))}`;
  const reached = await Promise.all(Array.from({ length: 460 }, () => open('/api/user/device', {})));
  expect(reached.filter(({ status }) => status === 200).length).toBeGreaterThan(440);
  expect(reached.filter(({ status }) => status === 429).length).toBeGreaterThan(4);
  // Refused ones do not count for other addresses.
  expect(Number(await api.redis.get(window))).toBe(reached.filter(({ status }) => status === 200).length);
  await api.redis.incrBy(window, 5000);
  await open('/api/user/device', {}).expect(429);
});

describe('a program on the same computer', () => {
  const authorize = async (more: object = {}) =>
    own('/api/user/authorizations', { port: 4711, challenge, state, ...more });
  const codeOf = async () => {
    const { redirect } = (await authorize()).body as { redirect: string };
    return new URL(redirect);
  };

  test('gets one token for its code and verifier', async () => {
    const redirect = await codeOf();
    expect([redirect.origin, redirect.pathname, redirect.searchParams.get('state')]).toEqual([
      ...['http://127.0.0.1:4711', '/callback', state],
    ]);
    const code = redirect.searchParams.get('code') ?? '';
    expect(JSON.stringify([...api.redis.entries])).not.toContain(code);
    const answer = await open('/api/user/authorizations/token', { code, verifier }).expect(200);
    await info((answer.body as { token: string }).token).expect(200);
    await open('/api/user/authorizations/token', { code, verifier }).expect(404);
  });

  test('gets nothing with a stolen or injected code: a wrong verifier deletes the code', async () => {
    const code = (await codeOf()).searchParams.get('code') ?? '';
    await open('/api/user/authorizations/token', { code, verifier: 'w'.repeat(43) }).expect(404);
    await open('/api/user/authorizations/token', { code, verifier }).expect(404);
  });

  test('gets nothing after a minute, or after a change of the password', async () => {
    const late = (await codeOf()).searchParams.get('code') ?? '';
    api.now += minute;
    await open('/api/user/authorizations/token', { code: late, verifier }).expect(404);
    const code = (await codeOf()).searchParams.get('code') ?? '';
    changePassword();
    await open('/api/user/authorizations/token', { code, verifier }).expect(401);
  });

  test.each([
    ['a port of the system', { port: 80 }],
    ['a host in the port', { port: '4711@evil.example' }],
    ['a plain challenge', { challenge: 'plain' }],
    ['a state with other parameters', { state: 'aaaaaaaaaaaaaaaa&code=x' }],
  ])('cannot redirect elsewhere: %s', async (_what, more) => {
    expect((await authorize(more)).status).toBe(422);
  });

  test('ignores another address to redirect to', async () => {
    const { redirect } = (await authorize({ redirect: 'https://evil.example', host: 'evil.example' })).body as {
      redirect: string;
    };
    expect(new URL(redirect).host).toBe('127.0.0.1:4711');
  });

  test('cannot be approved by a page of another site with the cookie', async () => {
    await open('/api/user/authorizations', { port: 4711, challenge, state })
      .set({ cookie: `token=${token}`, origin: 'https://evil.example' })
      .expect(403);
  });
});

test('stores a grant under a key of its own kind', async () => {
  const device = await start();
  await decide(device).expect(200);
  expect([...api.redis.entries.keys()]).toContain(`coppice:device:${tokenHash(device.deviceCode)}`);
});
