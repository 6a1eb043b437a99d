import { verify, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { checkAuthority, createAuthority } from './authority.ts';
import type { CredentialKey } from './credential-keys.ts';
import { issueBuildCredential } from './credential.ts';
import { RequestBudget } from './request-budget.ts';
import { TokenEndpoint, type TokenEndpointOptions } from './token-endpoint.ts';
import { TokenSigner } from './token-signer.ts';

const start = new Date('2026-03-01T12:00:00Z');
const seconds = start.getTime() / 1000;
const key: CredentialKey = { createdAt: seconds - 1000, key: Buffer.alloc(32, 1) };
const credential = issueBuildCredential({ uid: 'uid-1', prefix: 'acme/shop/' }, 3600, [key], start)!;
const own = 'repository:acme/shop/web:pull,push';

let authority: { certificate: string; key: string };
beforeAll(async () => {
  authority = await createAuthority(start);
});

function newEndpoint(options: Partial<TokenEndpointOptions> = {}) {
  const outcomes: string[] = [];
  const lines: string[] = [];
  const signer = new TokenSigner(authority, 'registry.example.com');
  const endpoint = new TokenEndpoint({
    path: '/registry/token',
    service: 'registry.example.com',
    sharedPrefixes: [],
    keys: () => [key],
    signer: () => signer,
    administrator: () => ({ username: 'root', password: 'a long password' }),
    budget: new RequestBudget(),
    count: (outcome) => outcomes.push(outcome),
    logger: pino({}, { write: (line: string) => lines.push(line) }),
    now: () => start,
    ...options,
  });
  const ask = (query: string, password: string | undefined = credential, username = 'coppice') =>
    endpoint.answer({
      method: 'GET',
      url: `/registry/token?${query}`,
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    });
  return { endpoint, ask, outcomes, lines };
}

function claimsOf(body: object): Record<string, unknown> {
  const { token } = body as { token: string };
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

test("returns a token that the authority's certificate verifies", async () => {
  const { ask, outcomes } = newEndpoint();
  const { status, body } = await ask(`service=registry.example.com&scope=${own}&account=coppice`);
  expect([status, body]).toEqual([200, expect.objectContaining({ expires_in: 300, issued_at: start.toISOString() })]);
  const { token } = body as { token: string };
  const [header = '', claims = '', signature = ''] = token.split('.');
  const { alg, x5c } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { alg: string; x5c: [string] };
  const certificate = new X509Certificate(Buffer.from(x5c[0], 'base64'));
  const root = new X509Certificate(authority.certificate);
  expect([alg, certificate.verify(root.publicKey), certificate.ca]).toEqual(['ES256', true, false]);
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    { key: certificate.publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(isSigned).toBe(true);
  expect(claimsOf(body)).toMatchObject({
    iss: 'coppice',
    sub: 'uid-1',
    aud: 'registry.example.com',
    exp: seconds + 300,
    access: [{ type: 'repository', name: 'acme/shop/web', actions: ['pull', 'push'] }],
  });
  expect(outcomes).toEqual(['granted']);
});

test('grants a part, and logs the rest without the credential', async () => {
  const { ask, outcomes, lines } = newEndpoint();
  const { status, body } = await ask(`scope=${own}&scope=repository:globex/shop/web:pull,push`);
  expect([status, claimsOf(body)['access']]).toEqual([200, [expect.objectContaining({ name: 'acme/shop/web' })]]);
  expect(outcomes).toEqual(['partly']);
  expect(lines.join('')).toContain('repository:globex/shop/web:pull,push');
  expect(lines.join('')).toContain('uid-1');
  expect(lines.join('')).not.toContain(credential.slice(-20));
});

test('does not log a push that asks to mount a layer from another image', async () => {
  const { ask, outcomes, lines } = newEndpoint();
  await ask(`scope=${own}&scope=repository:acme/blog/web:pull`);
  expect([outcomes, lines]).toEqual([['unmounted'], []]);
  // Without a push it is a pull.
  await ask('scope=repository:acme/shop/web:pull&scope=repository:acme/blog/web:pull');
  expect([outcomes.at(-1), lines.length]).toEqual(['partly', 1]);
});

test('gives the administrator every requested scope', async () => {
  const { ask } = newEndpoint();
  const { body } = await ask('scope=registry:catalog:*', 'a long password', 'root');
  expect(claimsOf(body)).toMatchObject({ sub: 'administrator', access: [{ name: 'catalog', actions: ['*'] }] });
});

describe('refuses', () => {
  test.each([
    ['another password', 'root', 'a long passwore'],
    ['another user', 'roor', 'a long password'],
    ['a changed credential', 'coppice', credential.replace('acme', 'acmf')],
    ['an empty password', 'root', ''],
  ])('%s', async (_what, username, password) => {
    const { ask, outcomes } = newEndpoint();
    const { status, headers, body } = await ask(`scope=${own}`, password, username);
    expect([status, headers]).toEqual([401, { 'www-authenticate': 'Basic realm="coppice"' }]);
    expect(JSON.stringify(body)).toContain('UNAUTHORIZED');
    expect(outcomes).toEqual(['unauthorized']);
  });

  test('an administrator where none is configured', async () => {
    const { ask } = newEndpoint({ administrator: () => undefined });
    expect((await ask(`scope=${own}`, '', '')).status).toBe(401);
  });

  test.each<[string, { method?: string; url?: string; authorization?: string }, number]>([
    ['no credential', {}, 401],
    ['another scheme', { authorization: `Bearer ${credential}` }, 401],
    ['no base64', { authorization: 'Basic ***' }, 401],
    ['no colon', { authorization: 'Basic aaaa' }, 401],
    ['another path', { url: '/token' }, 404],
    ['a URL that is none', { url: '//' }, 404],
    ['POST', { method: 'POST' }, 405],
    ['another service', { url: '/registry/token?service=other' }, 400],
    ['too many scopes', { url: `/registry/token?scope=${'repository:a:pull+'.repeat(33)}` }, 400],
  ])('%s', async (_what, request, status) => {
    const { endpoint } = newEndpoint();
    const answer = await endpoint.answer({
      method: 'GET',
      url: '/registry/token',
      authorization: undefined,
      ...request,
    });
    expect(answer.status).toBe(status);
  });

  test('a holder that sends too many requests, and no others', async () => {
    let now = start;
    const { ask, outcomes } = newEndpoint({ now: () => now });
    for (let count = 0; count < 300; count += 1) expect((await ask(`scope=${own}`)).status).toBe(200);
    expect(await ask(`scope=${own}`)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(outcomes.at(-1)).toBe('limited');
    const other = issueBuildCredential({ uid: 'uid-2', prefix: 'acme/shop/' }, 3600, [key], start)!;
    expect((await ask(`scope=${own}`, other)).status).toBe(200);
    now = new Date(start.getTime() + 1000);
    expect((await ask(`scope=${own}`)).status).toBe(200);
  });
});

test('signs with another certificate after two thirds of its validity', async () => {
  let now = start;
  const { ask } = newEndpoint({ now: () => now });
  const headerOf = async () => {
    const text = issueBuildCredential({ uid: 'uid-1', prefix: 'acme/shop/' }, 3600, [key], now)!;
    return ((await ask(`scope=${own}`, text)).body as { token: string }).token.split('.')[0];
  };
  const first = await headerOf();
  now = new Date(start.getTime() + 19 * 24 * 3600 * 1000);
  expect(await headerOf()).toBe(first);
  now = new Date(start.getTime() + 21 * 24 * 3600 * 1000);
  expect(await headerOf()).not.toBe(first);
});

test('checks an authority that an administrator may have created', async () => {
  const other = await createAuthority(start);
  expect(() => checkAuthority(authority, start)).not.toThrow();
  expect(() => checkAuthority({ ...authority, key: other.key }, start)).toThrow(
    'the key does not belong to the certificate',
  );
  expect(() => checkAuthority(authority, new Date('2046-01-01'))).toThrow('has expired');
});
