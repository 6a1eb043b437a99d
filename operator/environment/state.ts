import type { EnvironmentState, EnvironmentStatus } from '../../crds/environment.ts';

export interface ObservedContents {
  /** The namespace is there. */
  present: boolean;
  /** The services are set up in it, running or not. */
  setUp: boolean;
  building: boolean;
  /** A build has come up and runs. */
  deployed: boolean;
}

/** Contract section 3: the state follows from what exists, never the other way round. */
export function deriveState({ present, setUp, building, deployed }: ObservedContents): EnvironmentState {
  if (!present) return 'empty';
  if (building) return 'building';
  if (deployed) return 'built';
  return setUp ? 'created' : 'empty';
}

/** Whether the environment has a namespace, as far as its status knows; without services it is `empty` all the same. */
export function hasNamespace({ state = 'empty', namespaceUID }: Pick<EnvironmentStatus, 'state' | 'namespaceUID'>) {
  return state !== 'empty' || namespaceUID !== undefined;
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
