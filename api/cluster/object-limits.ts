import { MAX_OVERRIDING_VARIABLES } from '../../crds/variable.ts';
import { Conflict } from '../shared/errors.ts';

/** Limits on the number of objects; those that CRDs also enforce are equal. */
export const OBJECT_LIMITS = {
  /** Per group; also in the CRD. */
  members: 500,
  /** Per group. */
  repositories: 500,
  /** Per repository; the chart's `sources.maxEnvironments` limits those that refs create. */
  environments: 10_000,
  /** Per group and per repository; also in the CRD. */
  variables: 200,
  /** Per environment; also in the CRD. */
  overridingVariables: MAX_OVERRIDING_VARIABLES,
};

/**
 * Checks that another object can be created.
 * @param whose such as `the group`
 * @throws Conflict when the limit is reached
 */
export function requireRoom(whose: string, what: keyof typeof OBJECT_LIMITS, there: number): void {
  if (there < OBJECT_LIMITS[what]) return;
  const shown = what === 'overridingVariables' ? 'variables' : what;
  throw new Conflict(`${whose} has ${there} ${shown}, and ${OBJECT_LIMITS[what]} is the limit. Delete some`);
}
