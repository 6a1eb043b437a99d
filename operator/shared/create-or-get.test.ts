import { expect, test } from '@jest/globals';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import { Namespace } from '../../kubernetes/resource-type.ts';
import { createOrGet } from './create-or-get.ts';

const object: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'group-acme' } };
const there = { ...object, metadata: { ...object.metadata, uid: 'theirs' } };

/** What it gives, and what the cache was reported of. */
async function create(failure?: Error, found: Namespace = there) {
  const observed: unknown[] = [];
  const client = {
    create: () => (failure ? Promise.reject(failure) : Promise.resolve(object)),
    get: () => Promise.resolve(found),
  };
  const given = await createOrGet(client as never, { observe: (one) => void observed.push(one) }, Namespace, object);
  return { given, observed };
}

test('what was created is in the cache at once', async () => {
  expect(await create()).toEqual({ given: object, observed: [object] });
});

const alreadyThere = new ApiError('POST', 409, 'AlreadyExists', 'it is there');

test("what is there already and is somebody else's is given, and is in no cache", async () => {
  expect(await create(alreadyThere)).toEqual({ given: there, observed: [] });
});

test('what Coppice itself made meanwhile is given, and is in the cache at once', async () => {
  const ours = { ...there, metadata: { ...there.metadata, labels: { [LABELS.managedBy]: MANAGED_BY } } };
  expect(await create(alreadyThere, ours)).toEqual({ given: ours, observed: [ours] });
});

test('another refusal is thrown', async () => {
  await expect(create(new ApiError('POST', 403, 'Forbidden', 'no'))).rejects.toThrow('no');
});
