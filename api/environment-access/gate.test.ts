import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { AccessMode } from '../../crds/access.ts';
import type { Environment } from '../../crds/environment.ts';
import { sealAccess, type AccessClaims, type Grant } from '../../environment-access/tokens.ts';
import { FakeRedis } from '../testing/fake-redis.ts';
import { AccessCodes, challengeOf } from './codes.ts';
import { HostCookies } from './cookies.ts';
import { forwardedRequest, originalRequest } from './forwarded-request.ts';
import { Gate, type GateAnswer } from './gate.ts';
import type { AccessTarget } from './hosts.ts';

const at = 1_800_000_000;
const keys = [{ createdAt: at - 3600, key: randomBytes(32) }];
const host = 'shop-main--acme.env.example';
const alias = 'api---shop-main--acme.env.example';
const member: Grant = { kind: 'member', user: 'u', account: 'a', session: 's' };
const link: Grant = { kind: 'link', user: 'u', account: 'a' };

function world({ mode = 'members', isGranted = true }: { mode?: AccessMode; isGranted?: boolean } = {}) {
  const environment = { metadata: { namespace: 'group-acme', name: 'shop-main', uid: 'uid-1' } } as Environment;
  const target = { environment, access: { mode, from: 'repository' } } as AccessTarget;
  const codes = new AccessCodes(new FakeRedis(() => at * 1000), randomBytes);
  const asked: Grant[] = [];
  const gate = new Gate({
    hosts: {
      find: (name) => (name === host || name === alias ? target : undefined),
      hostsOf: () => new Set([host, alias]),
      urlOf: (name, path) => `https://${name}${path}`,
    },
    grants: {
      isValid: (grant) => {
        asked.push(grant);
        return Promise.resolve(isGranted);
      },
    },
    codes,
    cookies: new HostCookies(true),
    keys: () => keys,
    ownOrigin: 'https://coppice.example',
    now: () => at * 1000,
    randomBytes,
  });
  const ask = (headers: object = {}, uri = '/a?b=1') =>
    gate.answer(
      forwardedRequest({ 'x-forwarded-host': host, 'x-forwarded-method': 'GET', 'x-forwarded-uri': uri, ...headers }),
    );
  const check = (headers: object, id = 'acme.shop-main', uri = '/a?b=1') =>
    gate.check(
      originalRequest({ 'x-original-url': `https://${host}${uri}`, 'x-original-method': 'GET', ...headers }),
      id,
    );
  return { ask, check, codes, asked };
}

const sealed = (claims: Partial<AccessClaims> = {}) =>
  sealAccess({ use: 'host', host, environment: 'uid-1', grant: member, expiresAt: at + 60, ...claims }, keys, at);
const cookie = (claims: Partial<AccessClaims> = {}) => ({ cookie: `a=1; __Host-coppice-access=${sealed(claims)}` });
const header = (claims: Partial<AccessClaims> = {}) => ({
  'x-coppice-environment-access': sealed({ use: 'environment', host: '', grant: link, ...claims }),
});
const html = { accept: 'text/html' };
const passed: GateAnswer = { kind: 'pass', cookies: 'a=1' };

describe('a cookie', () => {
  test('opens its host, and does not reach the environment', async () => {
    const { ask, asked } = world();
    expect(await ask(cookie())).toEqual(passed);
    expect(asked).toEqual([member]);
  });

  test.each<[string, object]>([
    ['another host of the environment', { ...cookie(), 'x-forwarded-host': alias }],
    ['another environment', cookie({ environment: 'uid-2' })],
    ['a token for the header', cookie({ use: 'environment', host: '' })],
    ['an ended token', cookie({ expiresAt: at })],
    ['no token', { cookie: '__Host-coppice-access=x' }],
    ['a name without prefix', { cookie: `coppice-access=${sealed()}` }],
  ])('does not open %s', async (_what, headers) => {
    expect(await world().ask(headers)).toMatchObject({ kind: 'refuse', status: 401 });
  });

  test('does not open what its visitor has lost', async () => {
    expect(await world({ isGranted: false }).ask(cookie())).toMatchObject({ kind: 'refuse', status: 401 });
  });

  test('does not open anything for the page of another environment', async () => {
    const headers = { ...cookie(), origin: 'https://evil.env.example', 'x-forwarded-method': 'POST' };
    expect(await world().ask(headers)).toMatchObject({ kind: 'refuse', status: 403 });
  });

  test('is found among those that another host has set', async () => {
    const { ask } = world();
    expect(await ask({ cookie: `__Host-coppice-access=x; __Host-coppice-access=${sealed()}` })).toMatchObject({
      kind: 'pass',
    });
  });
});

describe('a header', () => {
  test.each([host, alias])('opens %s', async (name) => {
    expect(await world().ask({ ...header(), 'x-forwarded-host': name, 'x-forwarded-method': 'DELETE' })).toEqual({
      kind: 'pass',
      cookies: undefined,
    });
  });

  test.each<[string, object]>([
    ['of another environment', header({ environment: 'uid-2' })],
    ['that is a cookie', { 'x-coppice-environment-access': sealed() }],
    ['that has ended', header({ expiresAt: at })],
    ['that is empty, with a valid cookie', { ...cookie(), 'x-coppice-environment-access': '' }],
  ])('is refused %s', async (_what, headers) => {
    expect(await world().ask({ ...html, ...headers })).toMatchObject({ kind: 'refuse', status: 401 });
  });
});

test('passes everything to a public environment, without the cookies', async () => {
  const { ask, asked } = world({ mode: 'public' });
  expect(await ask({ ...cookie(), 'x-forwarded-method': 'POST' })).toEqual(passed);
  expect(asked).toEqual([]);
});

test.each<[string, object]>([
  ['an unknown host', { 'x-forwarded-host': 'other.env.example' }],
  ['no host', { 'x-forwarded-host': undefined }],
  ['the API', { 'x-forwarded-host': 'coppice.example' }],
])('refuses %s', async (_what, headers) => {
  expect(await world().ask({ ...cookie(), ...html, ...headers })).toMatchObject({ kind: 'refuse', status: 403 });
});

test.each<[string, object]>([
  ['a program', {}],
  ['a form', { ...html, 'x-forwarded-method': 'POST' }],
  ['a WebSocket', { ...html, 'sec-websocket-key': 'x' }],
])('does not redirect %s', async (_what, headers) => {
  expect(await world().ask(headers)).toMatchObject({ kind: 'refuse', status: 401 });
});

async function started(visitor: ReturnType<typeof world>, uri?: string, cookies?: string) {
  const answer = await visitor.ask({ ...html, cookie: cookies }, uri);
  if (answer.kind !== 'redirect') throw new Error(`the answer is ${answer.kind}`);
  const query = new URL(answer.location).searchParams;
  const secret = /^__Host-coppice-access-start=([^;]+)/.exec(answer.setCookies[0] ?? '')?.[1] ?? '';
  return { location: answer.location, query, secret };
}

describe('a visit', () => {
  test('leads to the panel with a challenge of this browser', async () => {
    const { location, query, secret } = await started(world({ mode: 'password' }));
    expect(location).toMatch(/^https:\/\/coppice\.example\/access\?/);
    expect(Object.fromEntries(query)).toEqual({
      host,
      path: '/a?b=1',
      challenge: challengeOf(secret),
      mode: 'password',
    });
  });

  test('shares the secret of another tab', async () => {
    const visitor = world();
    const first = await started(visitor);
    const second = await started(visitor, '/b', `__Host-coppice-access-start=${first.secret}`);
    expect(second.secret).toBe(first.secret);
    const third = await started(visitor, '/b', '__Host-coppice-access-start=short');
    expect(third.secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test.each(['//evil.example/', '/\\evil.example', `/${'x'.repeat(3000)}`])(
    'returns to no other place: %s',
    async (uri) => {
      expect((await started(world(), uri)).query.get('path')).toBe('/');
    },
  );
});

test('a visit starts at the gate, where nginx sends the visitor', async () => {
  const { query } = await started(world(), '/.coppice/access?rd=%2Fa%3Fb%3D1');
  expect(query.get('path')).toBe('/a?b=1');
  expect((await started(world(), '/.coppice/access?rd=%2F%2Fevil.example')).query.get('path')).toBe('/');
  expect(await world().ask({}, '/.coppice/access?rd=%2F')).toMatchObject({ kind: 'refuse', status: 401 });
});

describe('asked about one environment', () => {
  test('passes with a cookie or a token of it', async () => {
    expect(await world().check(cookie())).toEqual(passed);
    expect(await world().check(header())).toMatchObject({ kind: 'pass' });
    expect(await world({ mode: 'public' }).check({})).toMatchObject({ kind: 'pass' });
  });

  // nginx routes by the request line, and describes the header Host: it may be one that the visitor can open.
  test.each(['acme.shop-other', 'other.shop-main', '', 'acme.shop-main/x'])('refuses another one: %j', async (id) => {
    for (const mode of ['members', 'public'] as const) {
      expect(await world({ mode }).check({ ...cookie(), ...header() }, id)).toMatchObject({
        kind: 'refuse',
        status: 403,
      });
    }
  });

  test('grants nothing at the path of the gate, to which an Ingress leads', async () => {
    const token = sealed({ use: 'environment', host: '', grant: link });
    const path = `/.coppice/access?token=${token}`;
    expect(await world().check(html, 'acme.shop-main', path)).toMatchObject({
      kind: 'redirect',
      location: expect.stringContaining('https://coppice.example/access?host='),
    });
    expect(await world().check({}, 'acme.shop-main', path)).toMatchObject({ kind: 'refuse' });
  });
});

describe('a code', () => {
  async function issued(more: object = {}) {
    const visitor = world();
    const secret = randomBytes(32).toString('base64url');
    const granted = { host, environment: 'uid-1', path: '/a?b=1', grant: member, ...more };
    const code = await visitor.codes.issue(granted, challengeOf(secret));
    return {
      visitor,
      uri: `/.coppice/access?code=${code}`,
      cookies: { cookie: `__Host-coppice-access-start=${secret}` },
    };
  }

  test('is exchanged once for a cookie of the host', async () => {
    const { visitor, uri, cookies } = await issued();
    const answer = await visitor.ask(cookies, uri);
    expect(answer).toMatchObject({ kind: 'redirect', location: `https://${host}/a?b=1` });
    const set = answer.kind === 'redirect' ? answer.setCookies : [];
    expect(set[1]).toContain('__Host-coppice-access-start=; Path=/; Max-Age=0');
    const value = /^__Host-coppice-access=[^;]+/.exec(set[0] ?? '')?.[0] ?? '';
    expect(await visitor.ask({ cookie: value })).toMatchObject({ kind: 'pass' });
    expect(await visitor.ask(cookies, uri)).toMatchObject({ kind: 'refuse', status: 403 });
  });

  test.each<[string, object, object]>([
    ['another browser', {}, { cookie: `__Host-coppice-access-start=${'x'.repeat(43)}` }],
    ['a browser without the secret', {}, { cookie: undefined }],
    ['another host', {}, { 'x-forwarded-host': alias }],
    ['another environment', { environment: 'uid-2' }, {}],
  ])('is refused from %s', async (_what, granted, headers) => {
    const { visitor, uri, cookies } = await issued(granted);
    expect(await visitor.ask({ ...cookies, ...headers }, uri)).toMatchObject({ kind: 'refuse', status: 403 });
    expect(await visitor.ask(cookies, uri)).toMatchObject({ kind: 'refuse', status: 403 });
  });
});

describe('a link', () => {
  const token = sealed({ use: 'environment', host: '', grant: link, expiresAt: at + 600 });
  const uri = (path: string) => `/.coppice/access?${new URLSearchParams({ token, path }).toString()}`;

  test('opens a page, as long as it is valid', async () => {
    const { ask, asked } = world();
    const answer = await ask(html, uri('/welcome?x=1'));
    expect(answer).toMatchObject({ kind: 'redirect', location: `https://${host}/welcome?x=1` });
    expect(answer.kind === 'redirect' && answer.setCookies[0]).toContain('Max-Age=600;');
    expect(asked).toEqual([link]);
  });

  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', '/a\r\nSet-Cookie: x', '/.coppice/access'])(
    'leads to no other place: %j',
    async (path) => {
      expect(await world().ask(html, uri(path))).toMatchObject({ location: `https://${host}/` });
    },
  );

  test('is refused when what it grants has ended', async () => {
    expect(await world({ isGranted: false }).ask(html, uri('/'))).toMatchObject({ kind: 'refuse', status: 403 });
  });
});
