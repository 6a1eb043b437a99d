import { isConflict, isNotFound } from '../../kubernetes/api-error.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { NotFound } from '../shared/errors.ts';
import { NO_SUCH_RESOURCE } from '../shared/messages.ts';
import type { ClusterWriter } from './caches.ts';
import type { ObjectCache } from './object-cache.ts';

/** Other replicas, the operator and kubectl write the same objects, so an update can conflict repeatedly. */
const maxTries = 20;

/**
 * Updates an object with optimistic concurrency: `change` returns a merge patch for the current object, and is called
 * again if the object has changed meanwhile. An error of `change` ends the update. Each replica updates an object one
 * change at a time.
 * @param gone creates the error for an object that no longer exists
 * @returns the object before and after
 * @throws NotFound, or the error that `gone` creates
 */
export async function updateChecked<T extends KubernetesObject>(
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'exclusively'>,
  cache: Pick<ObjectCache<T>, 'observe'>,
  type: ResourceType<T>,
  { metadata: { namespace, name, uid } }: T,
  change: (current: T) => object,
  gone = () => new NotFound(NO_SUCH_RESOURCE) as Error,
): Promise<{ before: T; after: T }> {
  const at = { namespace, name };
  return cluster.exclusively(type, at, async () => {
    for (let left = maxTries; ; left--) {
      const before = await cluster.find(type, at);
      if (before?.metadata.uid !== uid || !before) throw gone();
      const { resourceVersion } = before.metadata;
      try {
        const after = await cluster.patch(type, at, change(before), { resourceVersion });
        cache.observe(after);
        return { before, after };
      } catch (error) {
        if (isNotFound(error)) throw gone();
        if (!isConflict(error) || left === 1) throw error;
      }
    }
  });
}
