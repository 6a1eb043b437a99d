import { expect, test } from '@jest/globals';
import { Secret, type KubernetesObject, type ObjectName } from '../../kubernetes/resource-type.ts';
import { sharedReads } from './shared-reads.ts';

interface Read {
  at: ObjectName;
  answer: (object: KubernetesObject | undefined) => void;
  fail: (error: Error) => void;
}

/** A cluster that responds when the test lets it. */
function cluster() {
  const reads: Read[] = [];
  const find = (_type: unknown, at: ObjectName) =>
    new Promise<never>((resolve, reject) => {
      reads.push({ at, answer: (object) => resolve(object as never), fail: reject });
    });
  return { reads, shared: sharedReads({ find }) };
}

const at = { namespace: 'group-acme', name: 'webhook-shop' };
const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: at };

test('shares one response among concurrent reads of an object, and sends a later read again', async () => {
  const { reads, shared } = cluster();
  const asked = [1, 2, 3].map(() => shared.find(Secret, at));
  expect(reads).toHaveLength(1);
  reads[0]?.answer(secret);
  expect(await Promise.all(asked)).toEqual([secret, secret, secret]);
  const later = shared.find(Secret, at);
  expect(reads).toHaveLength(2);
  reads[1]?.answer(undefined);
  expect(await later).toBeUndefined();
});

test('reads other objects separately', () => {
  const { reads, shared } = cluster();
  void shared.find(Secret, at);
  void shared.find(Secret, { ...at, namespace: 'group-rival' });
  void shared.find(Secret, { ...at, name: 'webhook-tools' });
  expect(reads.map((read) => read.at.name)).toEqual(['webhook-shop', 'webhook-shop', 'webhook-tools']);
});

test('fails all reads that share a response, and sends the next one again', async () => {
  const { reads, shared } = cluster();
  const asked = [1, 2].map(() => shared.find(Secret, at));
  reads[0]?.fail(new Error('away'));
  for (const one of asked) await expect(one).rejects.toThrow('away');
  const later = shared.find(Secret, at);
  reads[1]?.answer(secret);
  expect(await later).toBe(secret);
});
