import type { EnvironmentState } from '../../crds/environment.ts';

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
