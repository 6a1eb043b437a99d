import { setTimeout as delay } from 'node:timers/promises';
import { listedEnvironment } from '../../api/environments/listed-environment.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { formatId, idOf } from '../../crds/ids.ts';
import { isNotFound } from '../../kubernetes/api-error.ts';
import type { EnvironmentChange } from '../installation.ts';
import type { KubectlCluster } from './cluster.ts';
import { isTemporary, shownError } from './errors.ts';

const retryMs = { first: 500, max: 10_000 };
/** Consecutive failed watches before giving up: about half a minute. */
const maxFailures = 6;

/** The Environments to watch: those of all namespaces or of one, or a single one. */
export interface Watched {
  namespace: string | undefined;
  name?: string | undefined;
}

/**
 * Returns the Environments that exist, then their changes, until the signal ends it. Continues when the API server ends
 * the watch, or does not answer for a moment.
 * @throws CliError
 */
export async function* environmentChanges(
  cluster: Pick<KubectlCluster, 'watch'>,
  watched: Watched,
  signal: AbortSignal,
): AsyncGenerator<EnvironmentChange> {
  let failures = 0;
  let seen: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const { type, object } of cluster.watch<Environment>(ENVIRONMENT, watched, signal)) {
        // An error ends the watch; the next watch starts with the existing objects.
        if (type === 'ERROR') break;
        seen = formatId(idOf(object));
        failures = 0;
        yield { id: seen, now: type === 'DELETED' ? 'deleted' : listedEnvironment(object) };
      }
    } catch (error) {
      const isGone = watched.name !== undefined && isNotFound(error);
      if (isGone && seen !== undefined) yield { id: seen, now: 'deleted' };
      failures++;
      if (!isTemporary(error) || failures > maxFailures) throw shownError(error);
    }
    await delay(Math.min(retryMs.first * 2 ** failures, retryMs.max), undefined, { signal });
  }
}
