import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { isMadeByCoppice } from '../../crds/ownership.ts';

/**
 * Creates an object, or gives the one of its name that is there already. The cache knows it at once, as one that the
 * watch is about to report; but none that Coppice did not make: the watch does not report that, and it would stay in
 * the cache when it is gone.
 */
export async function createOrGet<T extends KubernetesObject>(
  client: Pick<ClusterClient, 'create' | 'get'>,
  cache: Pick<Informer<T>, 'observe'>,
  type: ResourceType<T>,
  object: T,
): Promise<T> {
  try {
    const created = await client.create<T>(type, object);
    cache.observe(created);
    return created;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { namespace, name } = object.metadata;
    const found = await client.get<T>(type, { namespace, name });
    if (isMadeByCoppice(found)) cache.observe(found);
    return found;
  }
}
