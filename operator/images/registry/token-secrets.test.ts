import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../kubernetes/api-error.ts';
import type { Secret } from '../../../kubernetes/resource-type.ts';
import { createAuthority } from '../../../registry-tokens/authority.ts';
import { AUTHORITY_SECRET, KEYS_SECRET, TokenSecrets, type SecretClient } from './token-secrets.ts';

const start = new Date('2026-03-01T12:00:00Z');
const day = 24 * 3600 * 1000;

let now: Date;
let secrets: Map<string, Secret>;
let writes: string[];
let bytes: number;

beforeEach(() => {
  now = start;
  secrets = new Map();
  writes = [];
  bytes = 0;
});

function there(name: string): Secret {
  const found = secrets.get(name);
  if (!found) throw new ApiError('GET', 404, 'NotFound', 'there is none');
  return structuredClone(found);
}

const client: SecretClient = {
  find: (_type, { name }) => Promise.resolve(structuredClone(secrets.get(name))),
  get: (_type, { name }) => Promise.resolve(there(name)),
  create: (_type, secret) => {
    const { name } = secret.metadata;
    writes.push(`create ${secret.metadata.namespace ?? ''}/${name}`);
    if (secrets.has(name)) return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'it is there'));
    secrets.set(name, structuredClone(secret));
    return Promise.resolve(secret);
  },
  patch: (_type, { name }, { data }) => {
    writes.push(`patch ${name}`);
    const former = there(name);
    const left = Object.entries({ ...former.data, ...data }).flatMap(([key, text]) =>
      text === null ? [] : [[key, text] as const],
    );
    const secret: Secret = { ...former, data: Object.fromEntries(left) };
    secrets.set(name, secret);
    return Promise.resolve(secret);
  },
};

function tokenSecrets(): TokenSecrets {
  return new TokenSecrets({
    client,
    namespace: 'coppice-system',
    service: 'registry:5000',
    randomBytes: (length) => Buffer.alloc(length, (bytes += 1)),
    now: () => now,
  });
}

test('creates both Secrets once, and reads them the next time', async () => {
  const first = tokenSecrets();
  expect(() => first.signer()).toThrow('has not been read');
  await expect(first.reconcile()).resolves.toEqual({});
  expect(writes).toEqual([`create coppice-system/${AUTHORITY_SECRET}`, `create coppice-system/${KEYS_SECRET}`]);
  const second = tokenSecrets();
  await second.reconcile();
  expect(writes).toHaveLength(2);
  expect(second.keys()).toEqual(first.keys());
  expect(first.keys()).toHaveLength(1);
  expect(secrets.get(AUTHORITY_SECRET)?.type).toBe('kubernetes.io/tls');
});

test('uses what another operator created meanwhile', async () => {
  const other = tokenSecrets();
  await other.reconcile();
  const [authority, keys] = [secrets.get(AUTHORITY_SECRET), secrets.get(KEYS_SECRET)];
  let tries = 0;
  const late = new TokenSecrets({
    client: { ...client, find: () => Promise.resolve((tries += 1) > 2 ? keys : undefined) },
    namespace: 'coppice-system',
    service: 'registry:5000',
    randomBytes: (length) => Buffer.alloc(length, 9),
    now: () => now,
  });
  await late.reconcile();
  expect(late.keys()).toEqual(other.keys());
  expect(secrets.get(AUTHORITY_SECRET)).toBe(authority);
});

describe('keys', () => {
  test('are rotated after 30 days, and removed when what they signed has expired', async () => {
    const one = tokenSecrets();
    const changes: Date[] = [];
    one.watch(() => changes.push(now));
    await one.reconcile();
    const [first] = one.keys();
    now = new Date(start.getTime() + 29 * day);
    await one.reconcile();
    expect(one.keys()).toEqual([first]);
    now = new Date(start.getTime() + 30 * day);
    await one.reconcile();
    expect(one.keys()).toHaveLength(2);
    expect(changes).toEqual([]);
    now = new Date(start.getTime() + 46 * day);
    await one.reconcile();
    expect(one.keys()).toHaveLength(1);
    expect(one.keys()).not.toContainEqual(first);
    expect(writes.filter((write) => write.startsWith('patch'))).toHaveLength(2);
    expect(changes).toEqual([now]);
  });

  test('are created again after their Secret was deleted, which is reported', async () => {
    const one = tokenSecrets();
    let changes = 0;
    const stop = one.watch(() => (changes += 1));
    await one.reconcile();
    secrets.delete(KEYS_SECRET);
    await one.reconcile();
    expect(changes).toBe(1);
    stop();
    secrets.delete(KEYS_SECRET);
    await one.reconcile();
    expect(changes).toBe(1);
  });
});

test('reports an authority that is not valid, and leaves it unchanged', async () => {
  const { certificate } = await createAuthority(start);
  const { key } = await createAuthority(start);
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const wrong: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: AUTHORITY_SECRET },
    data: { 'tls.crt': encode(certificate), 'tls.key': encode(key) },
  };
  secrets.set(AUTHORITY_SECRET, wrong);
  await expect(tokenSecrets().reconcile()).rejects.toThrow(
    'the Secret coppice-registry-authority contains no valid authority for registry tokens',
  );
  expect(secrets.get(AUTHORITY_SECRET)).toBe(wrong);
  expect(writes).toEqual([]);
});
