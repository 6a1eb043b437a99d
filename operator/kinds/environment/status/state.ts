import type { EnvironmentState, EnvironmentStatus } from '../../../../crds/environment.ts';

export interface ObservedContents {
  /** Whether the namespace exists. */
  present: boolean;
  /** Whether the services are set up in it, running or not. */
  setUp: boolean;
  building: boolean;
  /** Whether a build has been deployed. */
  deployed: boolean;
}

/** Derives the state of the REST contract from what exists, never the reverse. */
export function deriveState({ present, setUp, building, deployed }: ObservedContents): EnvironmentState {
  if (!present) return 'empty';
  if (building) return 'building';
  if (deployed) return 'built';
  return setUp ? 'created' : 'empty';
}

/** Returns the last build if it belongs to the current contents. */
export function buildOfContents({ build, activation }: EnvironmentStatus): EnvironmentStatus['build'] {
  return build && Date.parse(build.startedAt) >= Date.parse(activation?.since ?? '') ? build : undefined;
}
