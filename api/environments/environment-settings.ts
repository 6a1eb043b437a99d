import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { requireNotApplied } from '../cluster/ownership.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import type { ChangeEnvironmentSettings } from './environment-parameters.ts';

export interface EnvironmentSettingsOptions {
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'exclusively'>;
  cache: Pick<Caches['environments'], 'observe'>;
}

/** Returns the function that changes the settings in a request. It throws Conflict when another field manager applies one. */
export function settingsChanger({ cluster, cache }: EnvironmentSettingsOptions) {
  return async (environment: Environment, settings: ChangeEnvironmentSettings): Promise<Environment> => {
    const { after } = await updateChecked(cluster, cache, ENVIRONMENT, environment, (current) => {
      requireNotApplied(current, settings);
      return { spec: settings };
    });
    return after;
  };
}
