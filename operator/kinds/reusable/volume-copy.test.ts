import { describe, expect, test } from '@jest/globals';
import type { Job, PersistentVolume, PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { givenBack } from './lost-volumes.ts';
import {
  type CopyObjects,
  type CopyStep,
  markPatch,
  nextCopyStep,
  pointPatch,
  readsSource,
  releasePatch,
  targetClaim,
  type VolumeCopy,
} from './volume-copy.ts';

const copy: VolumeCopy = {
  id: 'c1',
  source: { namespace: 'env-a', name: 'volume-data' },
  target: { namespace: 'reusable-acme', name: 'copy-c1', labels: { group: 'acme' }, annotations: { built: 'then' } },
  size: '1Gi',
  storageClass: undefined,
  environmentKey: 'group-acme/a',
  environmentUid: 'u1',
  labels: {},
};

function claim(uid: string, more: Partial<PersistentVolumeClaim> = {}, metadata: object = {}): PersistentVolumeClaim {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'copy-c1', uid, ...metadata }, ...more };
}
function job(...types: string[]): Job {
  const conditions = types.map((type) => ({ type, status: 'True' }));
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'copy-c1' }, status: { conditions } };
}
function volume(claimRef: object, policy = 'Retain'): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'pv1',
      annotations: {
        'coppice.dev/reclaim-policy': 'Delete',
        'coppice.dev/moves-from': JSON.stringify({ namespace: 'env-a', name: 'copy-c1', uid: 's' }),
      },
    },
    spec: { claimRef, persistentVolumeReclaimPolicy: policy, storageClassName: 'standard' },
  };
}

const copied = { annotations: { 'coppice.dev/copied': 'true' } };
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const atStaging = volume({ namespace: 'env-a', name: 'copy-c1', uid: 's' });
const toTarget = volume({ namespace: 'reusable-acme', name: 'copy-c1' });
const ofTarget = volume({ namespace: 'reusable-acme', name: 'copy-c1', uid: 't' });
const boundTarget = claim('t', { spec: { volumeName: 'pv1' }, status: { phase: 'Bound' } });
const pendingTarget = claim('t', { spec: { volumeName: 'pv1' }, status: { phase: 'Pending' } });

describe('the next step', () => {
  test.each<[string, CopyObjects, CopyStep]>([
    ['nothing exists', {}, 'create staging'],
    ['a former attempt is being deleted', { staging: claim('s', {}, going) }, 'await deletion'],
    ['the claim exists', { staging: claim('s') }, 'create job'],
    ['the Job is running', { staging: claim('s'), job: job() }, 'await job'],
    ['the Job has failed', { staging: claim('s'), job: job('Failed') }, 'report failure'],
    ['the Job has completed', { staging: claim('s'), job: job('Complete') }, 'note copied'],
    ['the copy is whole', { staging: claim('s', {}, copied), job: job('Complete') }, 'mark volume'],
    ['the Job no longer exists', { staging: claim('s', {}, copied) }, 'mark volume'],
    ['the volume outlives its claim', { staging: claim('s', {}, copied), volume: atStaging }, 'delete staging'],
    [
      'its claim is being deleted',
      { staging: claim('s', {}, { ...copied, ...going }), volume: atStaging },
      'await deletion',
    ],
    ['its claim is deleted', { volume: atStaging }, 'point volume'],
    ['it waits for the target', { volume: toTarget }, 'create target'],
    ['the target was created', { volume: toTarget, target: pendingTarget }, 'await binding'],
    ['the target is bound', { volume: ofTarget, target: boundTarget }, 'release volume'],
    ['the target is bound, and the copy is complete', { target: boundTarget }, 'done'],
    ['the target existed before', { target: claim('other'), staging: undefined }, 'done'],
    ['a former target is being deleted', { target: claim('other', {}, going) }, 'await deletion'],
    ['the target was deleted', { volume: ofTarget }, 'report loss'],
    [
      'another claim took the target',
      { volume: toTarget, target: claim('x', { spec: { volumeName: 'pv2' } }) },
      'report loss',
    ],
  ])('%s', (_, parts, step) => {
    expect(nextCopyStep(copy, parts)).toBe(step);
  });

  test('reads the source until the copy is complete', () => {
    const steps: CopyStep[] = ['create staging', 'create job', 'await job', 'note copied', 'mark volume', 'done'];
    expect(steps.map(readsSource)).toEqual([true, true, true, true, false, false]);
  });
});

describe('a volume that moves', () => {
  const bound = volume({ namespace: 'env-a', name: 'copy-c1', uid: 's' }, 'Delete');
  const staging = claim('s', {}, { namespace: 'env-a' });

  test('outlives its claim, and records its policy and origin', () => {
    expect(markPatch(copy, { ...bound, metadata: { name: 'pv1' } }, staging)).toEqual({
      metadata: {
        labels: { 'coppice.dev/moving': 'c1' },
        annotations: {
          'coppice.dev/for-environment': 'group-acme/a',
          'coppice.dev/for-environment-uid': 'u1',
          'coppice.dev/reclaim-policy': 'Delete',
          'coppice.dev/moves-from': '{"namespace":"env-a","name":"copy-c1","uid":"s"}',
        },
      },
      spec: { persistentVolumeReclaimPolicy: 'Retain' },
    });
  });

  test('is kept while no claim has it, because its provisioner would delete a released volume', () => {
    expect(JSON.stringify(pointPatch(copy))).not.toContain('ReclaimPolicy');
    expect(pointPatch(copy)).toMatchObject({ spec: { claimRef: { namespace: 'reusable-acme', uid: null } } });
  });

  test('is reserved for the new claim, which records what the copy is for', () => {
    const { metadata, spec } = targetClaim(copy, toTarget);
    expect(metadata).toEqual(copy.target);
    expect(spec).toMatchObject({ volumeName: 'pv1', storageClassName: 'standard' });
  });

  test('gets back its policy at the end, without the label', () => {
    const patch = releasePatch(ofTarget);
    expect(patch).toMatchObject({ spec: { persistentVolumeReclaimPolicy: 'Delete' } });
    expect(patch).toMatchObject({ metadata: { labels: { 'coppice.dev/moving': null } } });
  });

  test('is returned to the claim that has it, or to its provisioner, if its target is gone', () => {
    expect(givenBack(ofTarget, true)).not.toHaveProperty('spec.claimRef');
    expect(givenBack(toTarget, false)).toMatchObject({
      spec: { persistentVolumeReclaimPolicy: 'Delete', claimRef: { namespace: 'env-a', name: 'copy-c1', uid: 's' } },
    });
  });
});
