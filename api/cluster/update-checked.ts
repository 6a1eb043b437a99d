import { isConflict, isNotFound } from '../../kubernetes/api-error.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { NotFound } from '../http/errors.ts';
import type { ClusterWriter } from './caches.ts';
import type { ObjectCache } from './object-cache.ts';

/** Of so many writers at once to one object, the last has its turn. */
const tries = 20;

/**
 * Changes an object from what it is now, so that of two changes at once none is lost: the merge patch that `change`
 * makes of it is refused when it has changed since, and then made anew. What `change` throws ends it.
 * @param gone what is thrown when it is not there any more.
 * @returns the object before and after. @throws NotFound, or what `gone` makes.
 */
export async function updateChecked<T extends KubernetesObject>(
  cluster: Pick<ClusterWriter, 'find' | 'patch'>,
  cache: Pick<ObjectCache<T>, 'observe'>,
  type: ResourceType<T>,
  { metadata: { namespace, name, uid } }: T,
  change: (current: T) => object,
  gone = () => new NotFound('no such resource') as Error,
): Promise<{ before: T; after: T }> {
  for (let left = tries; ; left--) {
    const before = await cluster.find(type, { namespace, name });
    if (before?.metadata.uid !== uid || !before) throw gone();
    const { resourceVersion } = before.metadata;
    try {
      const after = await cluster.patch(type, { namespace, name }, change(before), { resourceVersion });
      cache.observe(after);
      return { before, after };
    } catch (error) {
      if (isNotFound(error)) throw gone();
      if (!isConflict(error) || left === 1) throw error;
    }
  }
}
