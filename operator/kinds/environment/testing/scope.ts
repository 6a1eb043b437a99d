import type { Environment } from '../../../../crds/environment.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import { EnvironmentScope, type ScopeOptions } from '../scope/scope.ts';

const unread = () => Promise.reject<RepositoryConfiguration>(new Error('the configuration is read'));

/**
 * Returns a scope in which forks are not trusted unless `trustForks` is given and, unless `read` is given, reading the
 * repository's configuration fails.
 */
export function scopeOf(
  environment: Environment,
  now: () => Date,
  {
    read = unread,
    trustForks = false,
    forkApproval = { isRequired: false, byComment: false },
  }: {
    read?: ScopeOptions['configurations']['read'];
    trustForks?: boolean;
    forkApproval?: ReturnType<ScopeOptions['configurations']['forkApproval']>;
  } = {},
): EnvironmentScope {
  const registryAccess = () => ({ trustForks, registrySecrets: [] });
  const configurations = {
    ...{ read, registryAccess, forkApproval: () => forkApproval },
    ...{ access: () => ({}), canBeIncluded: () => false },
  };
  const environmentsUrl = new URL('http://env.example');
  return new EnvironmentScope(environment, { configurations, environmentsUrl, defaultAccess: 'public', now });
}
