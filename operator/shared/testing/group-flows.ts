import { Flows } from '../../source/hosts/flows.ts';

/** Flows where no group was created by an account. */
export const groupFlows = new Flows({
  groups: { get: () => undefined },
  environments: { get: () => undefined },
  repositories: { get: () => undefined },
});
