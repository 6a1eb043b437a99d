import type { Environment } from '../../../../crds/environment.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import { EnvironmentScope, type ScopeOptions } from '../scope/scope.ts';

const unread = () => Promise.reject<RepositoryConfiguration>(new Error('the configuration is read'));

/**
 * Returns a scope in which forks are not trusted and, unless `read` is given, reading the repository's configuration
 * fails.
 */
export function scopeOf(
  environment: Environment,
  now: () => Date,
  read: ScopeOptions['configurations']['read'] = unread,
): EnvironmentScope {
  const registryAccess = () => ({ trustForks: false, registrySecrets: [] });
  const environmentsUrl = new URL('http://env.example');
  return new EnvironmentScope(environment, { configurations: { read, registryAccess }, environmentsUrl, now });
}
