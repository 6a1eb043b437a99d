import { expect, test } from '@jest/globals';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import { Waiting } from './errors.ts';
import { ensureOwnedSecret } from './owned-secret.ts';

const owner = {
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Repository',
  metadata: { namespace: 'group-acme', name: 'shop', uid: 'uid-of-shop' },
};

function secretOf(uid: string, texts: Record<string, string>): Secret {
  const ownerReferences = [{ apiVersion: 'v', kind: 'Repository', name: 'shop', uid }];
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'its', ownerReferences }, data: encodeTexts(texts) };
}

/**
 * Calls ensureOwnedSecret() with a fake client whose `find` returns `there`. If `first` is set, `create` fails because the
 * name is taken, and `get` returns `first`.
 */
function ensure({ there, first }: { there?: Secret; first?: Secret }) {
  const created: Secret[] = [];
  const client = {
    find: () => Promise.resolve(there),
    get: () => Promise.resolve(first),
    create: (_type: unknown, secret: Secret) => {
      if (first) return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'it is there'));
      created.push(secret);
      return Promise.resolve(secret);
    },
  };
  const result = ensureOwnedSecret(client as never, owner, {
    name: 'its',
    type: 'Opaque',
    keys: ['a', 'b'],
    makeTexts: () => Promise.resolve({ a: 'made', b: 'made' }),
    refusal: { reason: 'SecretTaken', message: 'delete it' },
  });
  return { result, created };
}

test('is created if missing, and deleted with its owner', async () => {
  const { result, created } = ensure({});
  expect(await result).toEqual({ secret: created[0], isNew: true });
  expect(created).toMatchObject([
    {
      metadata: { namespace: 'group-acme', name: 'its', ownerReferences: [{ kind: 'Repository', uid: 'uid-of-shop' }] },
      data: encodeTexts({ a: 'made', b: 'made' }),
    },
  ]);
});

const whole = secretOf('uid-of-shop', { a: 'x', b: 'y' });
test.each([
  ['that exists', { there: whole }],
  ['that another operator created first', { first: whole }],
])("uses the owner's own %s unchanged", async (_which, cluster) => {
  const { result, created } = ensure(cluster);
  expect(await result).toEqual({ secret: whole, isNew: false });
  expect(created).toEqual([]);
});

test.each([
  ["a former owner's", secretOf('uid-of-former', { a: 'x', b: 'y' })],
  ['its own without a key', secretOf('uid-of-shop', { a: 'x' })],
  ['its own with an empty text', secretOf('uid-of-shop', { a: 'x', b: '' })],
])('waits for %s, whether it exists or appears first', async (_which, secret) => {
  for (const cluster of [{ there: secret }, { first: secret }]) {
    const { result } = ensure(cluster);
    await expect(result).rejects.toThrow(Waiting);
    await expect(result).rejects.toMatchObject({ reason: 'SecretTaken', message: 'delete it', afterMs: 2000 });
  }
});
