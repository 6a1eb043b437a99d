import type { Repository } from '../../crds/repository.ts';
import { WEBHOOK_SECRET_KEY, webhookSecretName } from '../../crds/webhook.ts';
import { isForbidden } from '../../kubernetes/api-error.ts';
import { isOwnedBy } from '../../kubernetes/owner.ts';
import { type ObjectName, Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import type { ClusterWriter } from '../cluster/caches.ts';

/**
 * Returns the secret that signs the deliveries for a repository; undefined until the operator has created it. Ignores a
 * Secret of this name that was not created for this Repository: its author could sign with it.
 */
export async function webhookSecret(
  cluster: Pick<ClusterWriter, 'find'>,
  repository: Repository,
): Promise<string | undefined> {
  return secretOf(await find(cluster, repository.metadata), repository);
}

/**
 * Returns the secret without revealing whether the repository exists: the request to the API server, its duration and
 * its errors are the same for a missing repository. A namespace that the API cannot read belongs to no group.
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

/** Reads the Secret; `at` is the Repository's name. */
function find(cluster: Pick<ClusterWriter, 'find'>, { namespace, name }: ObjectName): Promise<Secret | undefined> {
  return cluster.find(Secret, { namespace, name: webhookSecretName(name) });
}

function secretOf(secret: Secret | undefined, repository: Repository): string | undefined {
  const text = secret && isOwnedBy(secret, repository) ? secretText(secret, WEBHOOK_SECRET_KEY) : undefined;
  return text === '' ? undefined : text;
}
