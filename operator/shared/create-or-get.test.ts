import { expect, test } from '@jest/globals';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import { Namespace } from '../../kubernetes/resource-type.ts';
import { createOrGet } from './create-or-get.ts';

const object: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'group-acme' } };
const there = { ...object, metadata: { ...object.metadata, uid: 'theirs' } };

/** Returns the object, and what was reported to the cache. */
async function create(failure?: Error, found: Namespace = there) {
  const observed: unknown[] = [];
  const client = {
    create: () => (failure ? Promise.reject(failure) : Promise.resolve(object)),
    get: () => Promise.resolve(found),
  };
  const given = await createOrGet(client as never, { observe: (one) => void observed.push(one) }, Namespace, object);
  return { given, observed };
}

test('adds a created object to the cache at once', async () => {
  expect(await create()).toEqual({ given: object, observed: [object] });
});

const alreadyThere = new ApiError('POST', 409, 'AlreadyExists', 'it is there');

test('returns an existing object of somebody else without adding it to the cache', async () => {
  expect(await create(alreadyThere)).toEqual({ given: there, observed: [] });
});

test('returns an object that Coppice created meanwhile, and adds it to the cache', async () => {
  const ours = { ...there, metadata: { ...there.metadata, labels: { [LABELS.managedBy]: MANAGED_BY } } };
  expect(await create(alreadyThere, ours)).toEqual({ given: ours, observed: [ours] });
});

test('throws after other refusals', async () => {
  await expect(create(new ApiError('POST', 403, 'Forbidden', 'no'))).rejects.toThrow('no');
});
