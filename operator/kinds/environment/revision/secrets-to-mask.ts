import { textsToMask } from '../../../../build-logs/masking/texts-to-mask.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import type { Revision } from './revision.ts';

/**
 * Returns the texts to mask in logs and statuses: the Git passwords, the service file's secrets, and variables that are
 * marked as secret or look like one. The revision names the variables of included repositories that it was planned
 * with; a fork that gets none must not find out by a mask whether it guessed one.
 */
export function secretsOf(
  configuration: RepositoryConfiguration | undefined,
  revision: Revision | undefined,
  included: readonly RepositoryConfiguration[] = [],
): string[] {
  const hosts = [configuration, ...included].flatMap((one) => one?.host.access.credentials ?? []);
  return [
    ...hosts.map(({ password }) => password),
    ...textsToMask([...(configuration?.variables.values() ?? [])]),
    ...(revision?.secrets ?? []),
  ];
}
