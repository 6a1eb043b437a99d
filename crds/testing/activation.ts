import type { EnvironmentStatus } from '../environment.ts';

type Activation = NonNullable<EnvironmentStatus['activation']>;

/** Returns the activation of an environment whose spec requests contents, with these changes. */
export function sampleActivation(changes: Partial<Activation> = {}): Activation {
  return {
    active: true,
    since: '2026-01-01T00:00:00.000Z',
    reason: 'Spec',
    specActive: true,
    buildPending: false,
    ...changes,
  };
}
