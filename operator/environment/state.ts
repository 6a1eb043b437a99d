import type { EnvironmentState, EnvironmentStatus } from '../../crds/environment.ts';

export interface ObservedContents {
  /** The namespace is there and fenced. */
  present: boolean;
  building: boolean;
  /** A build has come up and runs. */
  deployed: boolean;
}

/** Contract section 3: the state follows from what exists, never the other way round. */
export function deriveState({ present, building, deployed }: ObservedContents): EnvironmentState {
  if (!present) return 'empty';
  if (building) return 'building';
  return deployed ? 'built' : 'created';
}

/** Nothing of what was there is there any more; the record of the last build stays. */
export function forgetContents(status: EnvironmentStatus): void {
  delete status.commit;
  delete status.version;
  delete status.deployed;
  delete status.services;
  delete status.aliases;
  delete status.namespaceUID;
  delete status.seed;
  if (status.publication?.result === 'running') status.publication.result = 'failed';
}

/** The last build, when it is of what is there now: one of former contents says nothing of that. */
export function buildOfContents({ build, activation }: EnvironmentStatus): EnvironmentStatus['build'] {
  return build && Date.parse(build.startedAt) >= Date.parse(activation?.since ?? '') ? build : undefined;
}
