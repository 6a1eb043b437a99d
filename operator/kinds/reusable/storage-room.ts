import { LABELS } from '../../../crds/labels.ts';
import type { ReusableEnvironment } from '../../../crds/reusable-environment.ts';
import type { PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { quantityValue } from '../../../kubernetes/quantity.ts';
import { REUSABLE_ANNOTATIONS } from './names.ts';
import type { VolumeCopy } from './volume-copy.ts';

/** Hard limits of a ResourceQuota. */
type Quota = Record<string, string>;

/** Delay before unused volumes are checked again, in milliseconds. */
const leavingRecheckMs = 5000;

/**
 * Refuses copies that exceed the environment's quota: they are created in another namespace, and would only be refused
 * when they are moved.
 * @throws Stalled QuotaExceeded
 */
export function requireEnvironmentRoom(copies: readonly Pick<VolumeCopy, 'size'>[], quota: Quota): void {
  const sizes = copies.map(({ size }) => size);
  const { persistentvolumeclaims: max, 'requests.storage': room } = quota;
  const remedy = 'Use fewer or smaller volumes in the service file, or ask an administrator to raise the limit';
  if (isTooMany(sizes.length, quota)) {
    throw new Stalled('QuotaExceeded', `${sizes.length} volumes exceed the limit of ${max} per environment. ${remedy}`);
  }
  // Sizes that are not quantities are refused too.
  if (!(bytesOver(sizes, quota) <= 0)) {
    throw new Stalled(
      'QuotaExceeded',
      `the volumes request ${sizes.join(' + ')}; the limit of an environment is ${room}. ${remedy}`,
    );
  }
}

/** Volumes in a group's store that count for one publication. */
export interface StoreUse {
  /** Sizes of the group's published volumes, except those to be deleted. */
  taken: readonly string[];
  /** Sizes of volumes that are deleted once no environment is seeded from them. */
  leaving: readonly string[];
}

/**
 * Returns the claims of the store that count: without copies on their way to an environment, claims that are being
 * deleted, and those of the publication itself.
 */
export function storeUse(
  claims: readonly PersistentVolumeClaim[],
  own: ReadonlySet<string>,
  { metadata, status }: Pick<ReusableEnvironment, 'metadata' | 'status'>,
): StoreUse {
  const named = new Set(status?.volumes?.map(({ claim }) => claim));
  const taken = claims.filter(
    ({ metadata: { name, annotations, deletionTimestamp } }) =>
      annotations?.[REUSABLE_ANNOTATIONS.builtAt] !== undefined && deletionTimestamp === undefined && !own.has(name),
  );
  const leaving = taken.filter(
    ({ metadata: { name, labels } }) => labels?.[LABELS.reusableUid] === metadata.uid && !named.has(name),
  );
  return { taken: taken.map(sizeOf), leaving: leaving.map(sizeOf) };
}

/**
 * Refuses a publication that exceeds the limits of the group's store, before anything is copied.
 * @param isStarted a started publication blocks builds, and therefore does not wait
 * @throws Stalled QuotaExceeded; Waiting if there is room once unused volumes are deleted
 */
export function requireStoreRoom(
  coming: readonly string[],
  { taken, leaving }: StoreUse,
  quota: Quota,
  isStarted: boolean,
): void {
  const all = [...taken, ...coming];
  if (!isTooMany(all.length, quota) && bytesOver(all, quota) <= 0) return;
  const { persistentvolumeclaims: max = 'any number of', 'requests.storage': room = 'any size' } = quota;
  const words =
    `the group's reusable environments can have ${max} volumes and ${room} in total, ` +
    `and ${coming.join(' + ')} more exceeds that`;
  const isTooManyThen = isTooMany(all.length - leaving.length, quota);
  const isTooLargeThen = !(bytesOver(all, quota) <= bytesOf(leaving));
  if (isStarted || isTooManyThen || isTooLargeThen) {
    throw new Stalled(
      'QuotaExceeded',
      `${words}. Delete a reusable environment, or ask an administrator to raise the limit`,
    );
  }
  throw new Waiting('QuotaExceeded', `${words} until unused volumes are deleted`, leavingRecheckMs);
}

function sizeOf({ spec }: PersistentVolumeClaim): string {
  return spec?.resources?.requests?.['storage'] ?? '0';
}

function isTooMany(count: number, { persistentvolumeclaims: max }: Quota): boolean {
  return max !== undefined && count > quantityValue(max);
}

/** Returns by how many bytes the sizes exceed the limit; NaN if one is not a quantity. */
function bytesOver(sizes: readonly string[], { 'requests.storage': room }: Quota): number {
  return room === undefined ? -Infinity : bytesOf(sizes) - quantityValue(room);
}

function bytesOf(sizes: readonly string[]): number {
  return sizes.reduce((sum, size) => sum + quantityValue(size), 0);
}
