import { API_GROUP } from './api-group.ts';

/** Which versions of Coppice's kinds the API server serves, and which one it stores. All have the same schema. */
export interface Versions {
  served: readonly string[];
  stored: string;
  /** Served versions that users should no longer use. */
  deprecated: readonly string[];
}

/**
 * The steps from v1alpha1 to v1beta1, one in each minor version (ADR 77). An API server refuses a definition without a
 * version that it has stored, so a version is served one release before it is stored: helm rollback leads back by one step.
 */
export const VERSION_STEPS = {
  alpha: { served: ['v1alpha1'], stored: 'v1alpha1', deprecated: [] },
  both: { served: ['v1beta1', 'v1alpha1'], stored: 'v1alpha1', deprecated: [] },
  beta: { served: ['v1beta1', 'v1alpha1'], stored: 'v1beta1', deprecated: ['v1alpha1'] },
} satisfies Record<string, Versions>;

/** The step of this release. */
export const CURRENT_VERSIONS: Versions = VERSION_STEPS.alpha;

/** Returns the warning that kubectl shows for a deprecated version. */
export function deprecationWarning(version: string, { stored }: Versions): string {
  return `${API_GROUP}/${version} is deprecated. Use ${API_GROUP}/${stored}, which has the same fields`;
}
