import { Flows } from '../flows.ts';

/** Flows for groups that no account created. */
export const groupFlows = new Flows({
  groups: { get: () => undefined },
  environments: { get: () => undefined },
  repositories: { get: () => undefined },
});
