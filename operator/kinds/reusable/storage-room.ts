import { LABELS } from '../../../crds/labels.ts';
import type { ReusableEnvironment } from '../../../crds/reusable-environment.ts';
import type { PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { quantityValue } from '../../../kubernetes/quantity.ts';
import { REUSABLE_ANNOTATIONS } from './names.ts';
import type { VolumeCopy } from './volume-copy.ts';

/** As the hard limits of a ResourceQuota. */
type Quota = Record<string, string>;

/** When what is no longer used is reconciled again. */
const leavingRecheckMs = 5000;

/**
 * Refuses copies that the environment's quota could never hold: they are made where no quota counts them, and would be
 * refused only when they arrive.
 * @throws Stalled QuotaExceeded
 */
export function requireEnvironmentRoom(copies: readonly Pick<VolumeCopy, 'size'>[], quota: Quota): void {
  const sizes = copies.map(({ size }) => size);
  const { persistentvolumeclaims: max, 'requests.storage': room } = quota;
  const remedy = 'reduce it in the service file, or ask an administrator to raise the limit';
  if (isTooMany(sizes.length, quota)) {
    throw new Stalled('QuotaExceeded', `${sizes.length} volumes exceed the limit of ${max} per environment: ${remedy}`);
  }
  // What is not a quantity is refused too.
  if (!(bytesOver(sizes, quota) <= 0)) {
    throw new Stalled(
      'QuotaExceeded',
      `the volumes request ${sizes.join(' + ')}; the limit of an environment is ${room}: ${remedy}`,
    );
  }
}

/** What a group's store holds, as far as it counts for one publication. */
export interface StoreUse {
  /** Sizes of what the group has published, what is on its way out aside. */
  taken: readonly string[];
  /** Of these, what goes once nothing is filled from it any more. */
  leaving: readonly string[];
}

/**
 * The claims of a store that count: copies that only pass through it on their way to an environment do not, nor those
 * that are being deleted, nor the publication's own.
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
 * Refuses a publication for which a group's store has no room, before anything is copied.
 * @param isStarted what has started holds up builds, and waits for nobody.
 * @throws Stalled QuotaExceeded; Waiting where there is room once what is leaving has gone.
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

/** By how much sizes are more than there is room for; NaN where one is not a quantity. */
function bytesOver(sizes: readonly string[], { 'requests.storage': room }: Quota): number {
  return room === undefined ? -Infinity : bytesOf(sizes) - quantityValue(room);
}

function bytesOf(sizes: readonly string[]): number {
  return sizes.reduce((sum, size) => sum + quantityValue(size), 0);
}
