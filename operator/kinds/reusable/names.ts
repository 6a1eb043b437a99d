import { API_GROUP } from '../../../crds/api-group.ts';
import { hashOf } from '../../../kubernetes/apply.ts';

export const REUSABLE_ANNOTATIONS = {
  /**
   * `namespace/name` of the Environment that a copy is made for, which is requeued by its changes, and the
   * Environment's UID.
   */
  environment: `${API_GROUP}/for-environment`,
  environmentUid: `${API_GROUP}/for-environment-uid`,
  /** On the claim that a copy fills: whether its data are complete. */
  copied: `${API_GROUP}/copied`,
  /** On a claim of published volumes: when its build became ready. */
  builtAt: `${API_GROUP}/built-at`,
  /** On a PersistentVolume that is being moved: its original reclaim policy, and its original claim. */
  reclaimPolicy: `${API_GROUP}/reclaim-policy`,
  movesFrom: `${API_GROUP}/moves-from`,
} as const;

/** Returns a hash of the parts that fits a label and an object's name. */
export function copyId(...parts: readonly (string | number)[]): string {
  return hashOf(parts).slice(0, 20);
}

/** Returns the name of the claim that a copy fills, and of the published claim that it becomes. */
export function copyName(id: string): string {
  return `copy-${id}`;
}
