import { textsToMask } from '../../../../build-logs/mask-candidates.ts';
import type { RepositoryConfiguration } from '../../repository/configuration.ts';
import type { Revision } from './revision.ts';

/**
 * Returns the texts to mask in logs and statuses: the Git password, the service file's secrets, and variables that are
 * marked as secret or look like one.
 */
export function secretsOf(
  configuration: RepositoryConfiguration | undefined,
  revision: Revision | undefined,
): string[] {
  const { credentials } = configuration?.host.access ?? {};
  return [
    ...(credentials ? [credentials.password] : []),
    ...textsToMask([...(configuration?.variables.values() ?? [])]),
    ...(revision?.secrets ?? []),
  ];
}
