import { isConflict, isNotFound } from './api-error.ts';
import type { DeleteOptions } from './client-options.ts';
import type { ClusterClient } from './client.ts';
import type { KubernetesObject, ResourceType } from './resource-type.ts';

/**
 * Starts the deletion of exactly this object; another one of the same name is kept. Returns false if it is already
 * being deleted or gone.
 */
export async function deleteObject<T extends KubernetesObject>(
  client: Pick<ClusterClient, 'delete'>,
  type: ResourceType<T>,
  { metadata: { namespace, name, uid, deletionTimestamp } }: Pick<T, 'metadata'>,
  options?: Pick<DeleteOptions, 'propagationPolicy'>,
): Promise<boolean> {
  if (deletionTimestamp !== undefined) return false;
  try {
    await client.delete(type, { namespace, name }, { ...options, uid });
    return true;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
    return false;
  }
}
