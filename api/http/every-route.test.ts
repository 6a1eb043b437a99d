import type { RequestListener, Server } from 'node:http';
import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import { BY_LOGIN, everyRouteApi, HARMLESS, OF_ACCOUNT, OPERATED, ROUTES, type Route } from '../testing/every-route.ts';
import { shareApi } from '../testing/shared-api.ts';
import { type TestApi } from '../testing/test-api.ts';
import { TEST_ORIGIN, UNLIMITED } from '../testing/test-options.ts';

let api: TestApi;
let token: string;
let served: RequestListener | Server;

async function startApi(): Promise<TestApi> {
  ({ api, token } = await everyRouteApi(UNLIMITED));
  served = api.app;
  return api;
}
/** Starts an API for each test of a block, or one for all of them, if they change nothing. `prepare` runs first. */
function eachWithItsOwnApi(prepare: () => Promise<void> = () => Promise.resolve()): void {
  beforeEach(() => startApi().then(prepare));
}
function withOneApi(prepare: () => Promise<void> = () => Promise.resolve()): void {
  const start = async () => {
    await startApi();
    await prepare();
    return api;
  };
  shareApi(start, (server) => void (served = server));
}

function call({ method, path, body }: Pick<Route, 'method' | 'path' | 'body'>, headers: Record<string, string>) {
  const sent = request(served)[method](path).set(headers);
  return body === undefined ? sent : sent.send(body);
}

interface Document {
  paths: Record<string, Record<string, { security?: unknown[] }>>;
}

/** These have tests of their own: their input cannot be prepared, or their response does not end. */
const elsewhere = ['post /api/user/password', 'post /api/user/invitation', 'delete /api/user', 'get /api/events'];

/** Logs out, or creates and shows only what belongs to the caller. */
const readsOnly = new Set([
  '/api/user/logout',
  '/api/repository/acme.shop/check',
  '/api/repository/acme.shop/rules/check',
]);
const writing = ROUTES.filter(({ method, path }) => method !== 'get' && !readsOnly.has(path));
const reading = ROUTES.filter(({ method }) => method === 'get');

async function readOnlyToken(): Promise<string> {
  const body = { name: 'reader', expirationTime: '2026-02-01T00:00:00Z', readOnly: true };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  return (made.body as { token: string }).token;
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
/** Returns the expected status of a route for a token. */
type Answers = (route: Route) => number;
const byAccess =
  (may: (route: Route) => boolean): Answers =>
  (route) =>
    may(route) && !BY_LOGIN.includes(nameOf(route)) ? route.status : 403;
const reads = (route: Route) => route.method === 'get' || HARMLESS.includes(nameOf(route));
const administers = byAccess(() => true);
/** Expectations for a restricted token: paths that match `unseen` are answered as if they did not exist. */
const restricted =
  (unseen: (path: string) => boolean): Answers =>
  (route) => {
    if (unseen(route.path)) return 404;
    return OF_ACCOUNT.includes(nameOf(route)) ? 403 : administers(route);
  };

const kinds: [string, object, Answers][] = [
  ['access read', { access: 'read' }, byAccess(reads)],
  ['access operate', { access: 'operate' }, byAccess((route) => reads(route) || OPERATED.includes(nameOf(route)))],
  ['access administer', { access: 'administer' }, administers],
  ['the group', { groups: ['acme'] }, restricted(() => false)],
  ['another group', { groups: ['tools'] }, restricted((path) => path.includes('acme'))],
  ['the repository', { repositories: ['acme.shop'] }, restricted((path) => /group\/acme/.test(path))],
  ['another repository', { repositories: ['acme.other'] }, restricted((path) => path.includes('acme'))],
  [
    'the group to operate',
    { groups: ['acme'], access: 'operate' },
    byAccess((route) => {
      const isOfAccount = OF_ACCOUNT.includes(nameOf(route));
      return !isOfAccount && (reads(route) || OPERATED.includes(nameOf(route)));
    }),
  ],
];

describe.each(kinds)('a token restricted to %s', (_kind, scopes, expected) => {
  const restrict = async () => {
    api.addGroup('tools', ['alice@example.com']);
    api.addRepository('acme', 'other');
    const body = { name: 'scoped', expirationTime: '2026-02-01T00:00:00Z', scopes };
    const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
    ({ token } = made.body as { token: string });
  };
  const answers = async (route: Route) => {
    const answer = await call(route, { 'x-service-token': token });
    expect({ status: answer.status }).toEqual({ status: expected(route) });
  };
  const isServed = (route: Route) => route.method !== 'get' && expected(route) === route.status;

  describe('writes', () => {
    eachWithItsOwnApi(restrict);
    test.each(ROUTES.filter(isServed))('$method $path', answers);
  });

  describe('reads, or is refused', () => {
    withOneApi(restrict);
    test.each(ROUTES.filter((route) => !isServed(route)))('$method $path', answers);

    test('is refused before its body is read, and after the existence is checked', async () => {
      for (const route of ROUTES) {
        const wanted = expected(route);
        if (wanted === route.status || (wanted !== 403 && wanted !== 404)) continue;
        const answer = await call({ ...route, body: { nonsense: true } }, { 'x-service-token': token });
        expect({ ...route, status: answer.status }).toEqual({ ...route, status: wanted });
      }
    });
  });
});

/** Verifies that a page of another origin reads neither the response of a route, nor that of a preflight. */
async function expectUnreadable(route: Route): Promise<void> {
  const origin = 'https://evil.example';
  const answer = await call(route, { 'x-service-token': token, origin });
  const asked = await request(served)
    .options(route.path)
    .set({ origin, 'access-control-request-method': route.method.toUpperCase() });
  expect(asked.status).toBe(400);
  for (const { headers } of [answer, asked]) {
    const names = Object.keys(headers);
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
}

describe('requests that change nothing', () => {
  let reader: string;
  withOneApi(async () => {
    reader = await readOnlyToken();
  });

  test('lists every endpoint that needs a token', async () => {
    const document = await request(api.app).get('/api/openapi.json').expect(200);
    const declared = Object.entries((document.body as Document).paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { security }]) => security?.length !== 0)
        .map(([method]) => `${method} ${path}`),
    );
    const inTable = ROUTES.map(({ method, path }) => ({ method, path: path.split('?')[0] ?? '' }));
    const missing = declared.filter((operation) => {
      const [method, path = ''] = operation.split(' ');
      const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      return !inTable.some((row) => row.method === method && pattern.test(row.path));
    });
    expect(missing.sort()).toEqual(elsewhere.sort());
  });

  test.each(writing)('a read-only token cannot send $method $path', async (route) => {
    const answer = await call({ ...route, body: { nonsense: true } }, { 'x-service-token': reader });
    expect({ status: answer.status, body: answer.body as unknown }).toEqual({
      status: 403,
      body: { error: expect.any(String) },
    });
  });

  test('documents the access that each operation needs', async () => {
    const document = await request(api.app).get('/api/openapi.json').expect(200);
    const { paths } = document.body as { paths: Record<string, Record<string, { 'x-coppice-access'?: string }>> };
    const access = (path: string, method: string) => paths[path]?.[method]?.['x-coppice-access'];
    expect(access('/api/group/{groupID}/settings', 'get')).toBe('read');
    expect(access('/api/repository/{repoID}/spawn', 'post')).toBe('operate');
    expect(access('/api/repository/{repoID}/settings', 'post')).toBe('administer');
    expect(access('/api/user/login', 'post')).toBeUndefined();
  });

  test.each(reading)('a read-only token can send $method $path, unless it needs a login', async (route) => {
    const status = BY_LOGIN.includes(nameOf(route)) ? 403 : route.status;
    await call(route, { 'x-service-token': reader }).expect(status);
  });

  describe.each(ROUTES.filter(({ path }) => path.includes('acme')))('$method $path', (route) => {
    test('answers for hidden resources exactly as for missing ones, including headers', async () => {
      const at = (group: string) =>
        call({ ...route, path: route.path.replace('acme', group) }, { 'x-service-token': token });
      const reported = async (group: string) => {
        const { status, text, headers } = await at(group);
        const ofThis = new Set(['x-request-id', 'date', 'ratelimit']);
        const others = Object.entries(headers as Record<string, string>).filter(([name]) => !ofThis.has(name));
        return { status, text, others };
      };
      expect(await reported('rival')).toEqual(await reported('nowhere'));
    });
  });

  describe.each(reading)('HEAD $path', (route) => {
    test('answers like GET, without a body, and changes nothing', async () => {
      const answer = await request(served).head(route.path).set('x-service-token', token).expect(route.status);
      expect(answer.text).toBeUndefined();
    });
  });

  test.each(reading)('lets no page of another origin read $method $path', expectUnreadable);

  test.each(writing)('answers 403 to a cookie from another origin, $method $path', async (route) => {
    for (const origin of ['https://evil.example', 'null', `${TEST_ORIGIN}.evil.example`]) {
      await call(route, { cookie: `token=${token}`, origin }).expect(403);
    }
  });
});

describe('each request on its own', () => {
  eachWithItsOwnApi();

  test.each(ROUTES.filter(({ method }) => method !== 'get'))(
    'lets no page of another origin read $method $path',
    expectUnreadable,
  );

  test.each([
    ['a body in an unknown encoding', { 'content-encoding': 'snake' }, '{}', 422],
    ['a body in an unknown character set', { 'content-type': 'application/json; charset=klingon' }, '{}', 422],
    ['a body that is not the gzip it says', { 'content-encoding': 'gzip' }, '{}', 422],
    ['a body of half a character', { 'content-type': 'application/json' }, '{"name":"\\ud83d"}', 422],
    [
      'deep nesting',
      { 'content-type': 'application/json' },
      `{"name":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
      422,
    ],
    ['a key of the prototype', { 'content-type': 'application/json' }, '{"__proto__":{"name":"x"}}', 422],
  ] as const)('answers %s like every other error', async (_name, headers, body, status) => {
    const sent = request(api.app).post('/api/groups').set(headers).set('x-service-token', token);
    const answer = await sent.send(body);
    expect({ status: answer.status, body: answer.body as unknown }).toMatchObject({
      status,
      body: { error: expect.any(String) },
    });
    expect(answer.text).not.toMatch(/at \w+ \(|node_modules|\.ts:/);
  });

  test.each(['/api/group/%zz', '/api/group/%c0%ae', '/api/%', '//api/groups', '/api/group/acme/../../user/info'])(
    'does not fail on the malformed path %s of an unauthenticated GET',
    async (path) => {
      expect((await request(api.app).get(path)).status).toBeLessThan(405);
    },
  );

  test.each(['/api/group/acme', '/api/group/rival', '/api/group/nowhere'])(
    'answers PUT %s with 405 and the accepted methods, whatever the caller can see',
    async (path) => {
      const answer = await call({ method: 'put', path }, { 'x-service-token': token }).expect(405);
      expect(answer.headers['allow']).toBe('GET, HEAD, POST, DELETE');
      expect(answer.body).toEqual({
        error: 'this address accepts only GET, HEAD, POST, DELETE. Use one of these methods',
      });
      await call({ method: 'put', path }, {}).expect(400);
    },
  );

  test('answers 405 only to authenticated callers, also at addresses that need no token', async () => {
    await request(api.app).get('/api/user/login').expect(400);
    const login = await call({ method: 'get', path: '/api/user/login' }, { 'x-service-token': token }).expect(405);
    expect(login.headers['allow']).toBe('POST');
    const asked = await request(api.app).options('/api/groups').set('x-service-token', token).expect(405);
    expect(asked.headers['allow']).toBe('GET, HEAD, POST');
    await call({ method: 'put', path: '/api/nothing' }, { 'x-service-token': token }).expect(404);
  });

  test('limits unknown API tokens from one address like one user, and still serves known ones', async () => {
    ({ api, token } = await everyRouteApi({ limits: { loginsPerMinute: 1, requestsPerMinute: 3 } }));
    const known = await readOnlyToken();
    const info = (sent: string) => request(api.app).get('/api/user/info').set('x-service-token', sent);
    const madeUp = known.replace(/.{10}$/, 'a'.repeat(10));
    for (let tries = 0; tries < 3; tries++) await info(madeUp).expect(401);
    const answer = await info(madeUp).expect(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    await info(known).expect(200);
  });

  /** These are stored where the API keeps secrets, and searched for in every response, success or error. */
  test('contains no secret in any response except those of the contract', async () => {
    const planted = {
      password: 'hunter2-password-of-a-user',
      credentials: 'hunter2-password-of-a-host',
      token: 'hunter2-token-of-a-host',
    };
    const send = (method: Route['method'], path: string, body?: object) =>
      call({ method, path, ...(body && { body }) }, { 'x-service-token': token });
    const answers: string[] = [];
    const keep = async (sent: ReturnType<typeof call>) => {
      const { text, headers } = await sent;
      answers.push(text, JSON.stringify(headers));
    };
    const params = { origin: 'https://git.example/a.git', username: 'bot', password: planted.credentials };
    await keep(send('post', '/api/user/register', { email: 'dan@example.com', password: planted.password }));
    await keep(send('post', '/api/group/acme', { name: 'private', type: 'generic', params }));
    const hosted = { owner: 'acme', repo: 'hosted', token: planted.token };
    await keep(send('post', '/api/group/acme', { name: 'hosted', type: 'ownerhost', params: hosted }));
    // The response to a refused request repeats no part of it.
    await keep(
      send('post', '/api/group/acme', { name: 'x', type: 'generic', params: { ...params, origin: 'ftp://x' } }),
    );
    const inUrl = `https://bot:${planted.credentials}@git.example/a.git`;
    await keep(send('post', '/api/group/acme', { name: 'x', type: 'generic', params: { origin: inUrl } }));
    await keep(send('post', '/api/group/acme', { name: 'x', type: 'ownerhost', params: { token: planted.token } }));
    await keep(send('post', '/api/user/register', { email: 'x', password: planted.password }));
    const secrets = api.cluster.all<Secret>(Secret).map(({ data }) => data ?? {});
    for (const value of [planted.credentials, planted.token]) {
      const encoded = Object.values(encodeTexts({ value }))[0];
      expect(secrets.some((data) => Object.values(data).includes(encoded ?? ''))).toBe(true);
    }
    for (const { method, path, body } of ROUTES) {
      const paths = [path, path.replace('acme.shop', 'acme.private'), path.replace('acme.shop', 'acme.hosted')];
      if (method === 'get') for (const one of new Set(paths)) await keep(send(method, one));
      else await keep(send(method, path.replace('acme', 'rival'), body));
    }
    const all = answers.join('\n');
    const hashes = secrets
      .flatMap((data) => data['passwordHash'] ?? [])
      .map((hash) => Buffer.from(hash, 'base64').toString());
    expect(hashes.some((hash) => hash !== 'none')).toBe(true);
    for (const secret of [...Object.values(planted), ...hashes.filter((hash) => hash !== 'none')]) {
      expect(all).not.toContain(secret);
      expect(all).not.toContain(Buffer.from(secret).toString('base64'));
    }
  });
});
