import { expect, test } from '@jest/globals';
import { ApiError } from './api-error.ts';
import { deleteObject } from './delete-object.ts';
import { Pod } from './resource-type.ts';

const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'x', name: 'web', uid: 'u1' } };

/** Returns the result, and the requests to the API server. */
async function deleted(object: Pod, failure?: Error) {
  const asked: unknown[] = [];
  const client = {
    delete: (...request: unknown[]) => {
      asked.push(request);
      return failure ? Promise.reject(failure) : Promise.resolve();
    },
  };
  return { started: await deleteObject(client, Pod, object, { propagationPolicy: 'Foreground' }), asked };
}

test('deletes by UID', async () => {
  const asked = [[Pod, { namespace: 'x', name: 'web' }, { uid: 'u1', propagationPolicy: 'Foreground' }]];
  expect(await deleted(pod)).toEqual({ started: true, asked });
});

test('does not repeat the deletion of an object that is being deleted', async () => {
  const going = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  expect(await deleted(going)).toEqual({ started: false, asked: [] });
});

test.each([
  ['an object that no longer exists', new ApiError('DELETE', 404, 'NotFound', 'gone')],
  ['another one of its name', new ApiError('DELETE', 409, 'Conflict', 'the UID in the precondition')],
])('ignores %s', async (_what, failure) => {
  expect((await deleted(pod, failure)).started).toBe(false);
});

test('throws after other refusals', async () => {
  await expect(deleted(pod, new ApiError('DELETE', 403, 'Forbidden', 'no'))).rejects.toThrow('no');
});
