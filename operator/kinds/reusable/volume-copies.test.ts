import { describe, expect, test } from '@jest/globals';
import { Job, PersistentVolume, PersistentVolumeClaim, type ResourceType } from '../../../kubernetes/resource-type.ts';
import { Stalled } from '../../shared/errors.ts';
import { StorageWorld } from './testing/storage-world.ts';
import type { VolumeCopies } from './volume-copies.ts';
import type { VolumeCopy } from './volume-copy.ts';

const managed = { 'app.kubernetes.io/managed-by': 'coppice' };
const copy: VolumeCopy = {
  id: 'c1',
  source: { namespace: 'env-a', name: 'volume-data' },
  target: { namespace: 'reusable-acme', name: 'copy-c1', labels: managed, annotations: {} },
  size: '1Gi',
  storageClass: undefined,
  environmentKey: 'group-acme/a',
  environmentUid: 'u1',
  labels: {},
};
const at = { namespace: 'reusable-acme', name: 'copy-c1' };
const staging = { namespace: 'env-a', name: 'copy-c1' };

/** Runs cluster and operator alternately and returns the phases. `restarts`: with another operator each time. */
async function run(world: StorageWorld, { restarts = false, rounds = 12 } = {}): Promise<string[]> {
  const phases: string[] = [];
  let copies: VolumeCopies = world.copies();
  for (let flow = 0; flow < rounds && phases.at(-1) !== 'done'; flow++) {
    if (restarts) copies = world.copies();
    phases.push(await copies.advance(copy, true));
    world.settle();
  }
  return phases;
}

describe('a copy', () => {
  test.each([false, true])(
    'arrives in the other namespace and leaves nothing behind, restarts: %p',
    async (restarts) => {
      const world = new StorageWorld();
      const phases = await run(world, { restarts });
      expect(phases.at(-1)).toBe('done');
      expect(phases.lastIndexOf('copying')).toBeLessThan(phases.indexOf('moving'));
      const [volume, ...others] = world.all(PersistentVolume);
      expect(others).toEqual([]);
      expect(world.lost).toEqual([]);
      expect(volume?.spec?.persistentVolumeReclaimPolicy).toBe('Delete');
      expect(volume?.metadata.labels).toEqual({});
      expect(volume?.metadata.annotations).toEqual({});
      expect(volume?.spec?.claimRef).toMatchObject({ ...at, uid: world.get(PersistentVolumeClaim, at).metadata.uid });
      expect(world.all(PersistentVolumeClaim).map(({ metadata }) => metadata.namespace)).toEqual(['reusable-acme']);
      expect(world.all(Job)).toEqual([]);
      expect(await world.copies().advance(copy, true)).toBe('done');
    },
  );

  test('does not start while something writes to the source', async () => {
    const world = new StorageWorld();
    for (let flow = 0; flow < 3; flow++) expect(await world.copies().advance(copy, false)).toBe('copying');
    expect(world.all(Job)).toEqual([]);
    expect(world.copies().shouldStart(copy)).toBe(true);
    await world.copies().advance(copy, true);
    expect(world.copies().shouldStart(copy)).toBe(false);
  });

  test('reports its failure, and can be removed', async () => {
    const world = new StorageWorld();
    world.jobsFail = true;
    await expect(run(world)).rejects.toThrow(Stalled);
    await world.copies().drop(copy);
    world.settle();
    expect([...world.all(PersistentVolumeClaim), ...world.all(Job), ...world.all(PersistentVolume)]).toEqual([]);
  });
});

test('removes a finished copy, and copies again', async () => {
  const world = new StorageWorld();
  await run(world);
  const { uid } = world.get(PersistentVolumeClaim, at).metadata;
  await world.copies().takeBack(at.namespace, at.name);
  await world.copies().takeBack(at.namespace, at.name);
  world.settle();
  expect([...world.all(PersistentVolumeClaim), ...world.all(PersistentVolume)]).toEqual([]);
  expect((await run(world)).at(-1)).toBe('done');
  expect(world.get(PersistentVolumeClaim, at).metadata.uid).not.toBe(uid);
});

describe('objects of others', () => {
  test.each<[string, ResourceType, typeof at]>([
    ['claim beside the source', PersistentVolumeClaim, staging],
    ['Job', Job, staging],
    ['claim that it is for', PersistentVolumeClaim, at],
  ])('are reported and kept: a %s', async (_, type, { namespace, name }) => {
    const world = new StorageWorld();
    world.add(type, { apiVersion: 'v1', kind: type.kind, metadata: { namespace, name } });
    await expect(run(world)).rejects.toThrow(`${type.kind} ${namespace}/${name} has the name of the copy`);
    expect(world.get(type, { namespace, name }).metadata.labels).toBeUndefined();
  });

  test('include a claim of the name with another label, which keeps its volume', async () => {
    const world = new StorageWorld();
    world.add<PersistentVolumeClaim>(PersistentVolumeClaim, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...staging, labels: managed, annotations: { 'coppice.dev/copied': 'true' } },
      spec: { volumeName: 'theirs' },
    });
    world.add<PersistentVolume>(PersistentVolume, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'theirs' },
      spec: { claimRef: { ...staging, uid: world.get(PersistentVolumeClaim, staging).metadata.uid } },
    });
    const before = world.get(PersistentVolume, { name: 'theirs' });
    await expect(run(world)).rejects.toThrow('is not bound to the claim');
    expect(world.get(PersistentVolume, { name: 'theirs' })).toEqual(before);
  });

  test("include a volume of another claim, even if Coppice's claim names it", async () => {
    const world = new StorageWorld();
    await run(world, { rounds: 1 });
    const volumeName = world.get(PersistentVolumeClaim, staging).spec?.volumeName ?? '';
    world.patch(PersistentVolume, { name: volumeName }, { spec: { claimRef: { uid: 'theirs' } } });
    await expect(world.copies().advance(copy, true)).rejects.toThrow('is not bound to the claim');
    expect(world.get(PersistentVolume, { name: volumeName }).spec?.claimRef?.uid).toBe('theirs');
  });
});
