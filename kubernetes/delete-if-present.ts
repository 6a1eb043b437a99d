import { isNotFound } from './api-error.ts';
import type { DeleteOptions } from './client-options.ts';
import type { ClusterClient } from './client.ts';
import type { KubernetesObject, ObjectName, ResourceType } from './resource-type.ts';

/** Starts the deletion of an object; does nothing if it does not exist. */
export async function deleteIfThere<T extends KubernetesObject>(
  client: Pick<ClusterClient, 'delete'>,
  type: ResourceType<T>,
  at: ObjectName,
  options?: DeleteOptions,
): Promise<void> {
  try {
    await client.delete(type, at, options);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
