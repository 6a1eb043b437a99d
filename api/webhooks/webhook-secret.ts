import type { Repository } from '../../crds/repository.ts';
import { WEBHOOK_SECRET_KEY, webhookSecretName } from '../../crds/webhook.ts';
import { isForbidden } from '../../kubernetes/api-error.ts';
import { isOwnedBy } from '../../kubernetes/owner.ts';
import { type ObjectName, Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import type { ClusterWriter } from '../cluster/caches.ts';

/**
 * What signs the deliveries for a repository; undefined until the operator has made it. A Secret of the name that was
 * not made for this very repository counts as none: who wrote it may sign with it.
 */
export async function webhookSecret(
  cluster: Pick<ClusterWriter, 'find'>,
  repository: Repository,
): Promise<string | undefined> {
  return secretOf(await find(cluster, repository.metadata), repository);
}

/**
 * The same where it must not show whether there is such a repository: what is asked of the API server, and so how long
 * it takes and how it fails, is the same for one that is not there. A namespace that the API may not read in is not a
 * group's.
 */
export async function webhookSecretIfAny(
  cluster: Pick<ClusterWriter, 'find'>,
  at: ObjectName,
  repository: Repository | undefined,
): Promise<string | undefined> {
  try {
    const secret = await find(cluster, at);
    return repository && secretOf(secret, repository);
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** `at` is where the Repository is. */
function find(cluster: Pick<ClusterWriter, 'find'>, { namespace, name }: ObjectName): Promise<Secret | undefined> {
  return cluster.find(Secret, { namespace, name: webhookSecretName(name) });
}

function secretOf(secret: Secret | undefined, repository: Repository): string | undefined {
  const text = secret && isOwnedBy(secret, repository) ? secretText(secret, WEBHOOK_SECRET_KEY) : undefined;
  return text === '' ? undefined : text;
}
