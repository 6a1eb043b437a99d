// What a registry (Distribution) permits with the tokens of the token server, and only with them.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { z } from 'zod';
import { createSend } from '../../operator/source/network/send.ts';
import { RegistrySession } from '../../operator/images/registry/session.ts';
import { createAuthority } from '../../registry-tokens/authority.ts';
import type { CredentialKey } from '../../registry-tokens/credential-keys.ts';
import { issueBuildCredential, issuePullCredential } from '../../registry-tokens/credential.ts';
import { RequestBudget } from '../../registry-tokens/request-budget.ts';
import { TokenServer } from '../../registry-tokens/server.ts';
import { TokenEndpoint } from '../../registry-tokens/token-endpoint.ts';
import { TOKEN_ISSUER, TokenSigner } from '../../registry-tokens/token-signer.ts';
import { startRegistry, type TestRegistry } from './start-registry.ts';

const service = 'registry.example.com';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const logger = pino({ level: 'silent' });
const key: CredentialKey = { createdAt: Math.floor(Date.now() / 1000) - 3600, key: Buffer.alloc(32, 1) };
const issue = (prefix: string) => issueBuildCredential({ uid: 'uid-1', prefix }, 3600, [key], new Date()) ?? '';
const build = issue('acme/shop/');
const fork = issue('acme/shop/untrusted/');
const otherGroup = issue('globex/shop/');
const pull = issuePullCredential({ uid: 'uid-1', prefix: 'acme/shop/' }, [key], new Date())?.credential ?? '';

let registry: TestRegistry;
let server: TokenServer;
let realm: string;

beforeAll(async () => {
  const authority = await createAuthority(new Date());
  const signer = new TokenSigner(authority, service);
  const endpoint = new TokenEndpoint({
    path: '/registry/token',
    service,
    sharedPrefixes: ['docker.io/'],
    keys: () => [key],
    signer: () => signer,
    administrator: () => ({ username: 'root', password: 'a long password' }),
    budget: new RequestBudget(),
    count: () => undefined,
    logger,
    now: () => new Date(),
  });
  server = new TokenServer(endpoint, logger);
  realm = `http://127.0.0.1:${await server.start(0, '127.0.0.1')}/registry/token`;
  const rootcertbundle = '/etc/distribution/authority.crt';
  registry = await startRegistry(
    { token: { realm, service, issuer: TOKEN_ISSUER, rootcertbundle } },
    authority.certificate,
  );
});

afterAll(async () => {
  await server.stop();
  await registry.stop();
});

const tokenSchema = z.object({ token: z.string() });

/** Returns a token for the scopes, by a credential. */
async function tokenFor(credential: string, ...scopes: string[]): Promise<string> {
  const url = new URL(realm);
  url.searchParams.set('service', service);
  for (const scope of scopes) url.searchParams.append('scope', scope);
  const authorization = `Basic ${Buffer.from(`coppice:${credential}`).toString('base64')}`;
  const answer = await fetch(url, { headers: { authorization } });
  expect(answer.status).toBe(200);
  return tokenSchema.parse(await answer.json()).token;
}

/** Returns the status of the registry's response. */
async function ask(token: string, method: string, path: string, body?: string, type?: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: manifestType,
    ...(type !== undefined && { 'content-type': type }),
  };
  return (await fetch(`${registry.origin}/v2/${path}`, { method, headers, ...(body !== undefined && { body }) }))
    .status;
}

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Pushes an image with one small layer, with one token for its repository; returns the first unexpected status. */
async function push(credential: string, name: string, content: string): Promise<number> {
  const token = await tokenFor(credential, `repository:${name}:pull,push`);
  const blobs = [content, '{}'].map((text) => ({ text, digest: digestOf(text), size: text.length }));
  for (const { text, digest } of blobs) {
    const headers = { authorization: `Bearer ${token}` };
    const start = await fetch(`${registry.origin}/v2/${name}/blobs/uploads/`, { method: 'POST', headers });
    if (start.status !== 202) return start.status;
    const location = new URL(start.headers.get('location') ?? '', registry.origin);
    location.searchParams.set('digest', digest);
    const sent = await fetch(location, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: text,
    });
    if (sent.status !== 201) return sent.status;
  }
  const [layer, config] = blobs.map(({ digest, size }) => ({ mediaType: 'application/octet-stream', digest, size }));
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config, layers: [layer] });
  return ask(token, 'PUT', `${name}/manifests/latest`, manifest, manifestType);
}

async function manifestStatus(credential: string, name: string): Promise<number> {
  return ask(await tokenFor(credential, `repository:${name}:pull`), 'GET', `${name}/manifests/latest`);
}

test('lets a build push and pull the images of its own repository', async () => {
  expect(await push(build, 'acme/shop/web', 'own')).toBe(201);
  expect(await manifestStatus(build, 'acme/shop/web')).toBe(200);
  expect(await manifestStatus(pull, 'acme/shop/web')).toBe(200);
});

test('lets a fork push into its own folder, and nowhere else', async () => {
  expect(await push(fork, 'acme/shop/untrusted/web', 'of a fork')).toBe(201);
  expect(await push(fork, 'acme/shop/web', 'over a trusted one')).toBe(401);
  expect(await manifestStatus(fork, 'acme/shop/web')).toBe(401);
  expect(await manifestStatus(pull, 'acme/shop/untrusted/web')).toBe(200);
});

describe("with another group's images", () => {
  const layer = digestOf('of globex');
  beforeAll(async () => void (await push(otherGroup, 'globex/shop/web', 'of globex')));

  test('refuses reads of manifests, tags and layers, and pushes', async () => {
    for (const credential of [build, fork, pull]) {
      const token = await tokenFor(credential, 'repository:globex/shop/web:pull,push', 'registry:catalog:*');
      expect(await ask(token, 'GET', 'globex/shop/web/manifests/latest')).toBe(401);
      expect(await ask(token, 'GET', 'globex/shop/web/tags/list')).toBe(401);
      expect(await ask(token, 'GET', `globex/shop/web/blobs/${layer}`)).toBe(401);
      expect(await ask(token, 'POST', 'globex/shop/web/blobs/uploads/')).toBe(401);
      expect(await ask(token, 'DELETE', `globex/shop/web/manifests/${layer}`)).toBe(401);
      expect(await ask(token, 'GET', '_catalog')).toBe(401);
    }
  });

  test('refuses to mount a layer, whose digest is known, from there', async () => {
    const mount = (from: string) => `acme/shop/web/blobs/uploads/?mount=${layer}&from=${from}`;
    const token = await tokenFor(build, 'repository:acme/shop/web:pull,push', 'repository:globex/shop/web:pull');
    expect(await ask(token, 'POST', mount('globex/shop/web'))).toBe(401);
    expect(await ask(token, 'GET', `acme/shop/web/blobs/${layer}`)).toBe(404);
    // A mount from its own repository is permitted.
    const own = `acme/shop/api/blobs/uploads/?mount=${digestOf('own')}&from=acme/shop/web`;
    const both = await tokenFor(build, 'repository:acme/shop/api:pull,push', 'repository:acme/shop/web:pull');
    expect(await ask(both, 'POST', own)).toBe(201);
  });
});

test('refuses pushes and deletions with the credential of a pull Secret', async () => {
  expect(await push(pull, 'acme/shop/web', 'pushed by a node')).toBe(401);
  const token = await tokenFor(pull, 'repository:acme/shop/web:pull,delete');
  expect(await ask(token, 'DELETE', `acme/shop/web/manifests/${digestOf('own')}`)).toBe(401);
});

test('answers 401 to a token whose scope is not exactly the image, as the guide says', async () => {
  const name = 'acme/shop/web';
  const tags = (token: string) => ask(token, 'GET', `${name}/tags/list`);
  for (const scope of [`repository:${name}:pull`, `repository:${name}:*`, `repository:${name}:pull,push,delete`]) {
    expect([scope, await tags(await tokenFor(build, scope))]).toEqual([scope, 200]);
  }
  for (const scopes of [
    [],
    ['repository:acme/shop:pull'],
    ['repository:acme/shop/*:pull'],
    [`repository:${service}/${name}:pull`],
    [`repository:${name}:push`],
  ]) {
    expect([scopes, await tags(await tokenFor(build, ...scopes))]).toEqual([scopes, 401]);
  }
});

test('refuses the credential itself, and a token of another authority', async () => {
  const basic = `Basic ${Buffer.from(`coppice:${build}`).toString('base64')}`;
  const answer = await fetch(`${registry.origin}/v2/acme/shop/web/tags/list`, { headers: { authorization: basic } });
  expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining(`realm="${realm}"`),
  ]);
  const forger = new TokenSigner(await createAuthority(new Date()), service);
  const access = [{ type: 'repository', name: 'acme/shop/web', actions: ['pull'] }];
  const { token } = await forger.sign('forger', access, new Date());
  expect(await ask(token, 'GET', 'acme/shop/web/tags/list')).toBe(401);
});

test('refuses a token that has expired, and one for another registry', async () => {
  const authority = await createAuthority(new Date());
  const access = [{ type: 'repository', name: 'acme/shop/web', actions: ['pull'] }];
  const rootcertbundle = '/etc/distribution/authority.crt';
  const token = { realm, service, issuer: TOKEN_ISSUER, rootcertbundle };
  const other = await startRegistry({ token }, authority.certificate);
  const status = async (of: string, now: Date) => {
    const { token: signed } = await new TokenSigner(authority, of).sign('uid-1', access, now);
    const headers = { authorization: `Bearer ${signed}` };
    return (await fetch(`${other.origin}/v2/acme/shop/web/tags/list`, { headers })).status;
  };
  try {
    // The request is permitted, and nothing exists yet.
    expect(await status(service, new Date())).toBe(404);
    expect(await status('another.example.com', new Date())).toBe(401);
    expect(await status(service, new Date(Date.now() - 3600_000))).toBe(401);
  } finally {
    await other.stop();
  }
});

test("lets the operator's client log in by a token", async () => {
  const credentials = () => ({ username: 'root', password: 'a long password' });
  const session = new RegistrySession({
    origin: registry.origin,
    login: { credentials },
    send: createSend({ timeoutMs: 5000 }),
  });
  const answer = await session.request({ method: 'GET', path: '_catalog?n=10', scope: 'registry:catalog:*' });
  expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('globex/shop/web')]);
});
