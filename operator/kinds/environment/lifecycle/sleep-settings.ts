import type { SleepSettings } from '../../../../crds/sleep.ts';
import type { RepositoryConfigurations } from '../../repository/configuration.ts';
import type { WorkloadInput } from '../../../services/objects/input.ts';
import type { EnvironmentScope } from '../scope/scope.ts';

export interface SleepDefaults {
  configurations: Pick<RepositoryConfigurations, 'sleepSettings'>;
  /** Default of environments whose repository sets nothing. */
  afterSeconds: number;
}

/** Returns a function that returns an environment's own settings or, field by field, its repository's or the chart's. */
export function sleepSettings({
  configurations,
  afterSeconds,
}: SleepDefaults): (scope: Pick<EnvironmentScope, 'repository' | 'environment'>) => SleepSettings {
  return ({ repository, environment }) => ({
    afterSeconds,
    ...configurations.sleepSettings(repository),
    ...environment.spec.sleep,
  });
}

/** Returns whether visits are watched for, as the settings need it, and whether the waker is in front now. */
export function visitsOf(
  { status, isAsleep }: Pick<EnvironmentScope, 'status' | 'isAsleep'>,
  { afterSeconds = 0, workingHours }: SleepSettings,
): WorkloadInput['visits'] {
  if (afterSeconds === 0 && workingHours === undefined) return undefined;
  return isAsleep || status.sleep?.watchedSince !== undefined ? 'watched' : 'direct';
}
