import { describe, expect, test } from '@jest/globals';
import { LABELS } from '../../../crds/labels.ts';
import type { PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { REUSABLE_ANNOTATIONS } from './names.ts';
import { requireEnvironmentRoom, requireStoreRoom, storeUse } from './storage-room.ts';

const quota = { persistentvolumeclaims: '2', 'requests.storage': '3Gi', pods: '50' };
const sized = (...sizes: string[]) => sizes.map((size) => ({ size }));

describe('permits copies that fit into an environment', () => {
  test.each([
    ['none', sized(), quota],
    ['all of it', sized('1Gi', '2Gi'), quota],
    ['exactly the limits', sized('1', '1'), quota],
    ['any size without limits', sized('10Ti', '10Ti', '10Ti'), {}],
  ])('%s', (_name, copies, limits) => {
    expect(() => {
      requireEnvironmentRoom(copies, limits);
    }).not.toThrow();
  });
});

test.each([
  ['more in all', sized('2Gi', '2Gi'), 'the volumes request 2Gi + 2Gi; the limit of an environment is 3Gi'],
  ['more in one', sized('10Ti'), 'the volumes request 10Ti; the limit of an environment is 3Gi'],
  ['too many', sized('1', '1', '1'), '3 volumes exceed the limit of 2 per environment'],
  ['a text that is not a size', sized('much'), 'the volumes request much; the limit of an environment is 3Gi'],
])('refuses: %s', (_name, copies, words) => {
  const remedy = 'Use fewer or smaller volumes in the service file, or ask an administrator to raise the limit';
  expect(() => {
    requireEnvironmentRoom(copies, quota);
  }).toThrow(expect.objectContaining({ reason: 'QuotaExceeded', message: `${words}. ${remedy}` }));
});

const claim = (name: string, storage: string, metadata: Partial<PersistentVolumeClaim['metadata']> = {}) => ({
  apiVersion: 'v1' as const,
  kind: 'PersistentVolumeClaim' as const,
  metadata: { name, namespace: 'reusable-acme', annotations: { [REUSABLE_ANNOTATIONS.builtAt]: 'then' }, ...metadata },
  spec: { resources: { requests: { storage } } },
});
const label = {
  metadata: { name: 'shop-base', namespace: 'group-acme', uid: 'r1' },
  status: { volumes: [{ name: 'data', claim: 'named', size: '1Gi' }] },
};
const own = { labels: { [LABELS.reusableUid]: 'r1' } };

describe('the contents of a store', () => {
  test.each<[string, PersistentVolumeClaim, string]>([
    ['the claims of another label', claim('a', '1Gi', { labels: { [LABELS.reusableUid]: 'r2' } }), 'taken'],
    ['the current claims of this label', claim('named', '1Gi', own), 'taken'],
    ['the former claims of this label', claim('former', '1Gi', own), 'leaving'],
    ['the claims of this publication', claim('arrived', '1Gi', own), 'no matter'],
    ['claims that are being deleted', claim('a', '1Gi', { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'no matter'],
    ['a copy that is being moved to an environment', claim('a', '1Gi', { annotations: {} }), 'no matter'],
  ])('%s', (_name, one, counts) => {
    const { taken, leaving } = storeUse([one], new Set(['arrived']), label);
    expect({ taken, leaving }).toEqual({
      taken: counts === 'no matter' ? [] : ['1Gi'],
      leaving: counts === 'leaving' ? ['1Gi'] : [],
    });
  });
});

describe('a store', () => {
  test.each([
    ['has room beside existing claims', ['1Gi'], { taken: ['2Gi'], leaving: [] }, quota],
    ['without limits takes all', ['9Ti'], { taken: ['9Ti'], leaving: [] }, {}],
  ])('%s', (_name, coming, use, limits) => {
    expect(() => {
      requireStoreRoom(coming, use, limits, false);
    }).not.toThrow();
  });

  const words = "the group's reusable environments can have 2 volumes and 3Gi in total, and";
  const wait = 'exceeds that until unused volumes are deleted';
  const full = 'exceeds that. Delete a reusable environment, or ask an administrator to raise the limit';
  test.each([
    ['in bytes', ['2Gi'], { taken: ['2Gi'], leaving: [] }, false, Stalled, `2Gi more ${full}`],
    ['in number', ['1', '1'], { taken: ['1'], leaving: [] }, false, Stalled, `1 + 1 more ${full}`],
    ['for a text that is not a size', ['much'], { taken: ['1'], leaving: ['1'] }, false, Stalled, `much more ${full}`],
    ['until one claim is deleted', ['2Gi'], { taken: ['2Gi'], leaving: ['2Gi'] }, false, Waiting, `2Gi more ${wait}`],
    [
      'until there are fewer claims',
      ['1', '1'],
      { taken: ['1'], leaving: ['1'] },
      false,
      Waiting,
      `1 + 1 more ${wait}`,
    ],
    ['even then', ['4Gi'], { taken: ['2Gi'], leaving: ['2Gi'] }, false, Stalled, `4Gi more ${full}`],
    [
      'for a publication that has started',
      ['2Gi'],
      { taken: ['2Gi'], leaving: ['2Gi'] },
      true,
      Stalled,
      `2Gi more ${full}`,
    ],
  ])('has no room %s', (_name, coming, use, isStarted, kind, more) => {
    const ask = () => {
      requireStoreRoom(coming, use, quota, isStarted);
    };
    expect(ask).toThrow(kind);
    expect(ask).toThrow(expect.objectContaining({ reason: 'QuotaExceeded', message: `${words} ${more}` }));
  });
});
