import { FINALIZER } from '../../crds/labels.ts';
import { isNotFound } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';

type Patcher = Pick<ClusterClient, 'patch'>;

/** Adds the finalizer, so that the object remains until removeFinalizer(); updates the given object. */
export async function addFinalizer(client: Patcher, type: ResourceType, object: KubernetesObject): Promise<void> {
  const { namespace, name, resourceVersion, finalizers = [] } = object.metadata;
  if (finalizers.includes(FINALIZER)) return;
  const patch = { metadata: { finalizers: [...finalizers, FINALIZER] } };
  const written = await client.patch(type, { namespace, name }, patch, { resourceVersion });
  object.metadata = { ...object.metadata, ...written.metadata };
}

/** Removes the finalizer; call it when everything created for the object has been deleted. */
export async function removeFinalizer(client: Patcher, type: ResourceType, object: KubernetesObject): Promise<void> {
  const { namespace, name, resourceVersion, finalizers = [] } = object.metadata;
  if (!finalizers.includes(FINALIZER)) return;
  const patch = { metadata: { finalizers: finalizers.filter((one) => one !== FINALIZER) } };
  try {
    await client.patch(type, { namespace, name }, patch, { resourceVersion });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
