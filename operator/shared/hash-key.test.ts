import { expect, test } from '@jest/globals';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import { HASH_KEY_SECRET, HashKey, keyedHash } from './hash-key.ts';

function cluster(held?: Secret) {
  let secret = held;
  let failures = 0;
  const client = {
    find: () => (failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve(secret)),
    get: () => Promise.resolve(secret),
    create: (_type: object, given: Secret) => {
      if (secret) return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'taken'));
      secret = given;
      return Promise.resolve(given);
    },
  };
  return {
    key: () => new HashKey(client as unknown as ConstructorParameters<typeof HashKey>[0], 'coppice-system'),
    secret: () => secret,
    fail: () => (failures = 1),
  };
}

test('creates the key once, and every operator reads the same', async () => {
  const world = cluster();
  const first = await world.key().read();
  expect(first).toHaveLength(32);
  expect(world.secret()).toMatchObject({ metadata: { name: HASH_KEY_SECRET, namespace: 'coppice-system' } });
  expect(await world.key().read()).toEqual(first);
});

test('repeats a failed read', async () => {
  const world = cluster();
  const key = world.key();
  world.fail();
  await expect(key.read()).rejects.toThrow('away');
  expect(await key.read()).toHaveLength(32);
});

test('refuses a Secret without a key of full length, and does not replace it', async () => {
  const metadata = { name: HASH_KEY_SECRET };
  const world = cluster({ apiVersion: 'v1', kind: 'Secret', metadata, data: { key: 'c2hvcnQ=' } });
  await expect(world.key().read()).rejects.toThrow(`the Secret ${HASH_KEY_SECRET} contains no key of 32 bytes`);
});

test('computes hashes that depend on key and value', () => {
  const [one, other] = [Buffer.from('a'), Buffer.from('b')];
  expect(keyedHash(one, ['x'])).toBe(keyedHash(one, ['x']));
  expect(new Set([keyedHash(one, ['x']), keyedHash(one, ['y']), keyedHash(other, ['x'])]).size).toBe(3);
});
