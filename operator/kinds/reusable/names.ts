import { API_GROUP } from '../../../crds/api-group.ts';
import { hashOf } from '../../../kubernetes/apply.ts';

export const REUSABLE_ANNOTATIONS = {
  /** `namespace/name` of the Environment that a copy is made for, which its changes wake; and that one's UID. */
  environment: `${API_GROUP}/for-environment`,
  environmentUid: `${API_GROUP}/for-environment-uid`,
  /** On the claim that a copy is made into: its data are complete. */
  copied: `${API_GROUP}/copied`,
  /** On a claim of the store: when the build that it came from was ready. */
  builtAt: `${API_GROUP}/built-at`,
  /** On a PersistentVolume that is on its way: what it was to do when released, and the claim that it comes from. */
  reclaimPolicy: `${API_GROUP}/reclaim-policy`,
  movesFrom: `${API_GROUP}/moves-from`,
} as const;

/** The same for equal parts alone; fits a label and an object's name. */
export function copyId(...parts: readonly (string | number)[]): string {
  return hashOf(parts).slice(0, 20);
}

/** The claim that a copy is made into, and, moved to the store, the published one. */
export function copyName(id: string): string {
  return `copy-${id}`;
}
