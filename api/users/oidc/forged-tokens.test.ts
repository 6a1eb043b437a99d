import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import request from 'supertest';
import { z } from 'zod';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { OIDC_CLIENT, OIDC_ISSUER, OidcProvider } from '../../testing/oidc-provider.ts';
import { TestApi } from '../../testing/test-api.ts';
import { TEST_ORIGIN } from '../../testing/test-options.ts';

// An attacker between Coppice and a real provider, or another client of the provider, responds with a token of its
// own.

type Json = Record<string, unknown>;
interface Token {
  header: Json;
  claims: Json;
}

const record = z.record(z.string(), z.unknown());
const tokens = z.looseObject({ id_token: z.string() });
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const kid = 'known';
const jwk = { ...keys.publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };

const encoded = (part: Json) => Buffer.from(JSON.stringify(part)).toString('base64url');
const decoded = (part = '') => record.parse(JSON.parse(Buffer.from(part, 'base64url').toString()));
const bodyOf = ({ header, claims }: Token) => `${encoded(header)}.${encoded(claims)}`;
const withKey = (token: Token, key: KeyObject) =>
  `${bodyOf(token)}.${sign('sha256', Buffer.from(bodyOf(token)), key).toString('base64url')}`;
const withSecret = (token: Token, secret: string) =>
  `${bodyOf(token)}.${createHmac('sha256', secret).update(bodyOf(token)).digest('base64url')}`;
const signed = (token: Token) => withKey(token, keys.privateKey);
const claiming = (claims: Json) => (token: Token) => signed({ ...token, claims: { ...token.claims, ...claims } });
const ofAlgorithm = ({ header, claims }: Token, alg: string) => ({ header: { ...header, alg }, claims });

let provider: OidcProvider;
beforeAll(async () => {
  provider = new OidcProvider(`${TEST_ORIGIN}/api/user/oidc/callback`);
  provider.people.set('1', { email: 'ann@example.com', email_verified: true });
  provider.subject = '1';
  await provider.start();
});
afterAll(() => provider.stop());

interface Forgery {
  idToken?: (token: Token) => string | undefined;
  userInfo?: (answer: Json) => Json;
}

/** Logs in through a provider whose responses are changed on the way, and whose keys are the test's. */
async function logIn({ idToken = signed, userInfo = (answer) => answer }: Forgery) {
  const fetch: typeof provider.fetch = async (url, options) => {
    const answer = await provider.fetch(url, options);
    const { pathname } = new URL(url);
    if (pathname === '/jwks') return Response.json({ keys: [jwk] });
    if (pathname === '/me') return Response.json(userInfo(record.parse(await answer.json())));
    if (pathname !== '/token') return answer;
    const { id_token, ...rest } = tokens.parse(await answer.json());
    const [header, claims] = id_token.split('.');
    const forged = idToken({ header: { ...decoded(header), kid }, claims: decoded(claims) });
    return Response.json({ ...rest, ...(forged !== undefined && { id_token: forged }) });
  };
  const oidc = { issuer: new URL(OIDC_ISSUER), ...OIDC_CLIENT, landingPage: '/api/docs' };
  const api = new TestApi({ oidc }, undefined, undefined, fetch);
  const started = await request(api.app).get('/api/user/oidc/login').expect(303);
  const cookies: unknown[] = [started.headers['set-cookie'] ?? []].flat();
  const cookie = cookies.map(String).map((line) => line.split(';')[0] ?? '');
  const back = await provider.visit(started.headers['location'] ?? '');
  const answer = await request(api.app).get(`${back.pathname}${back.search}`).set('cookie', cookie.join('; '));
  return { status: answer.status, accounts: api.cluster.all(Secret).length };
}

test("accepts an ID token that the provider's key signed", async () => {
  await expect(logIn({})).resolves.toEqual({ status: 303, accounts: 1 });
});

const now = () => Math.floor(Date.now() / 1000);
test.each<[string, (token: Token) => string | undefined]>([
  ['no ID token', () => undefined],
  ['no signature', (token) => `${bodyOf(ofAlgorithm(token, 'none'))}.`],
  ["the client's secret as the key", (token) => withSecret(ofAlgorithm(token, 'HS256'), OIDC_CLIENT.clientSecret)],
  [
    "the provider's public key as the secret",
    (token) =>
      withSecret(ofAlgorithm(token, 'HS256'), keys.publicKey.export({ format: 'pem', type: 'spki' }).toString()),
  ],
  ['another key', (token) => withKey(token, otherKeys.privateKey)],
  [
    'another key that it carries along',
    ({ header, claims }) =>
      withKey(
        { header: { ...header, jwk: otherKeys.publicKey.export({ format: 'jwk' }) }, claims },
        otherKeys.privateKey,
      ),
  ],
  [
    'the signature of other claims',
    (token) => `${bodyOf({ ...token, claims: { ...token.claims, sub: '2' } })}.${signed(token).split('.')[2] ?? ''}`,
  ],
  ['another client', claiming({ aud: 'another' })],
  ['an additional client', claiming({ aud: [OIDC_CLIENT.clientId, 'another'], azp: 'another' })],
  ['another provider', claiming({ iss: 'https://login.example.com' })],
  ['a time that has passed', claiming({ exp: now() - 60 })],
  ['no nonce', claiming({ nonce: undefined })],
  ['the nonce of another login', claiming({ nonce: 'A'.repeat(43) })],
  ['no subject', claiming({ sub: undefined })],
])('refuses an ID token with %s', async (_what, idToken) => {
  await expect(logIn({ idToken })).resolves.toEqual({ status: 401, accounts: 0 });
});

test('refuses user information of another subject', async () => {
  const userInfo = (answer: Json) => ({ ...answer, sub: '2', email: 'root@example.com' });
  await expect(logIn({ userInfo })).resolves.toEqual({ status: 401, accounts: 0 });
});

test.each([['true'], [1], [null], [undefined], [['true']]])(
  'treats the email_verified %p as not verified',
  async (email_verified) => {
    await expect(logIn({ userInfo: (answer) => ({ ...answer, email_verified }) })).resolves.toEqual({
      status: 403,
      accounts: 0,
    });
  },
);

test.each(['ann@example.com\u0000', 'Ann <ann@example.com>', 'ann@example.com,root@example.com', 'ann'])(
  'refuses %p, which is not one address',
  async (email) => {
    const { status, accounts } = await logIn({ userInfo: (answer) => ({ ...answer, email }) });
    expect([status, accounts]).toEqual([403, 0]);
  },
);
