import { expect, test } from '@jest/globals';
import type { Environment, EnvironmentStatus } from '../../../crds/environment.ts';
import type { PersistentVolume } from '../../../kubernetes/resource-type.ts';
import { LostVolumes, type LostVolumesOptions } from './lost-volumes.ts';

const annotations = {
  'coppice.dev/for-environment': 'group-acme/a',
  'coppice.dev/for-environment-uid': 'u1',
  'coppice.dev/reclaim-policy': 'Delete',
  'coppice.dev/moves-from': '{"namespace":"env-a","name":"copy-c1","uid":"s"}',
};
const seeding: EnvironmentStatus = {
  seed: { label: 'base', result: 'running', reusableUID: 'r', publication: 'p', volumes: [] },
};

function environment(uid: string, status: EnvironmentStatus): Environment {
  const spec: Environment['spec'] = {
    repository: 'shop',
    gitRef: { name: 'main', type: 'branch' },
    active: true,
    buildOnCreate: true,
  };
  return { apiVersion: 'v', kind: 'Environment', metadata: { namespace: 'group-acme', name: 'a', uid }, spec, status };
}

/** Returns the patches of a volume. */
async function patchesOf(labels: Record<string, string>, held: Environment | undefined): Promise<object[]> {
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv1', labels, annotations: 'coppice.dev/moving' in labels ? annotations : {} },
    spec: { claimRef: { namespace: 'env-a', name: 'copy-c1', uid: 's' }, persistentVolumeReclaimPolicy: 'Retain' },
  };
  const patches: object[] = [];
  const parts = {
    client: {
      patch: (_type: object, _at: object, patch: object) => {
        patches.push(patch);
        return Promise.resolve(volume);
      },
    },
    environments: { get: () => held },
    volumeClaims: { get: () => undefined },
    movingVolumes: { get: () => volume, observe: () => undefined },
  };
  await new LostVolumes(parts as unknown as LostVolumesOptions).reconcile('pv1');
  return patches;
}

const moving = { 'coppice.dev/moving': 'c1' };

test.each<[string, Record<string, string>, Environment | undefined, boolean]>([
  ['of an environment that is being seeded is kept', moving, environment('u1', seeding), false],
  ['of an environment that was seeded before is released', moving, environment('u1', {}), true],
  ['of another environment of that name is released', moving, environment('u2', seeding), true],
  ['of a deleted environment is released', moving, undefined, true],
  ['that is bound to its claim is not changed', {}, undefined, false],
])('a volume %s', async (_, labels, held, isGivenBack) => {
  const patches = await patchesOf(labels, held);
  expect(patches.map((patch) => JSON.stringify(patch).includes('"persistentVolumeReclaimPolicy":"Delete"'))).toEqual(
    isGivenBack ? [true] : [],
  );
});
