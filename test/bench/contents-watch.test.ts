import { expect, test } from '@jest/globals';
import type { Deployment, Namespace, Service } from '../../kubernetes/resource-type.ts';
import { MomentNotes } from './contents-watch.ts';

const inNamespace = { name: 'web', namespace: 'env-shop-main--acme', generation: 2 };
const id = 'acme.shop-main';

function namespace(annotations: Record<string, string> = {}): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'env-shop-main--acme', annotations } };
}

const service: Service = { apiVersion: 'v1', kind: 'Service', metadata: inNamespace };

function deployment(replicas: number, available: number): Deployment {
  const status = { observedGeneration: 2, updatedReplicas: replicas, replicas, availableReplicas: available };
  const spec = { replicas, selector: {}, template: {} };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: inNamespace, spec, status };
}

test('records when each object was first seen, and when the last rollout ended', () => {
  let now = 0;
  const notes = new MomentNotes(() => ++now);
  notes.onNamespace('added', namespace());
  notes.onService('added', service);
  notes.onNamespace('updated', namespace({ 'coppice.dev/isolation': 'hash' }));
  notes.onService('updated', service);
  notes.onDeployment('added', deployment(0, 0));
  notes.onDeployment('updated', deployment(1, 0), deployment(0, 0));
  expect(() => notes.of(id)).toThrow('no namespace, isolation, Service or rollout was seen');
  now = 10;
  notes.onDeployment('updated', deployment(1, 1), deployment(1, 0));
  notes.onDeployment('updated', deployment(1, 1), deployment(1, 1));
  notes.onDeployment('deleted', deployment(1, 1));
  notes.onNamespace('deleted', namespace());
  expect(notes.of(id)).toEqual({ namespace: 1, isolated: 3, service: 2, rolledOut: 11 });
});
