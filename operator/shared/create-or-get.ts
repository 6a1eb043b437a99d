import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { isMadeByCoppice } from '../../crds/ownership.ts';

/**
 * Creates an object, or returns the existing one of its name. Adds it to the cache before the watch reports it, unless
 * Coppice did not create it: the watch does not report such objects, so the cache would never remove it.
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
