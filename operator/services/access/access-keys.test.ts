import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readAccessKeys } from '../../../environment-access/keys.ts';
import type { Secret } from '../../../kubernetes/resource-type.ts';
import { AccessKeys } from './access-keys.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const day = 24 * 3600 * 1000;

function world() {
  let stored: Secret | undefined;
  let at = start;
  const client = {
    find: () => Promise.resolve(stored),
    get: () => Promise.resolve(stored),
    create: (_type: object, secret: Secret) => Promise.resolve((stored = secret)),
    patch: (_type: object, _at: object, { data }: { data: Record<string, string | null> }) => {
      const merged = Object.entries({ ...stored?.data, ...data }).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      return Promise.resolve((stored = { ...stored, data: Object.fromEntries(merged) } as Secret));
    },
  };
  const keys = new AccessKeys({
    client: client as never,
    namespace: 'coppice-system',
    randomBytes,
    now: () => new Date(at),
  });
  return { keys, pass: (days: number) => (at += days * day), stored: () => readAccessKeys(stored?.data) };
}

test('creates a key, adds one each week, and removes those that signed nothing valid any more', async () => {
  const { keys, pass, stored } = world();
  await keys.reconcile();
  const [first] = keys.keys();
  expect(stored()).toEqual([first]);
  await keys.reconcile();
  expect(stored()).toEqual([first]);
  for (let week = 1; week <= 5; week++) {
    pass(7);
    await keys.reconcile();
  }
  expect(stored()).toHaveLength(6);
  pass(3);
  await keys.reconcile();
  expect(stored()).toHaveLength(5);
  expect(stored()).not.toContainEqual(first);
  expect(keys.keys()).toEqual(stored());
});
