import { appliedFieldIn, otherManager } from '../../crds/ownership.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { Conflict } from '../shared/errors.ts';
import type { ClusterWriter } from './caches.ts';

/** Description of the response 409 to changes and deletions in the OpenAPI document. */
export const APPLIED_BY_OTHERS = 'Another field manager, such as a GitOps tool, applies what this would change.';
export const BELONGS_TO_OTHERS = 'It, or something in it, belongs to another field manager, such as a GitOps tool.';

/**
 * Refuses a merge patch of the spec that another field manager's next apply would revert. Requires an object from the
 * API server: caches keep no managed fields. @throws Conflict, which names the manager.
 */
export function requireNotApplied(
  object: KubernetesObject & { spec: object },
  spec: Readonly<Record<string, unknown>>,
): void {
  const owned = appliedFieldIn(object, spec);
  if (!owned) return;
  throw new Conflict(
    `${nameOf(object)} is managed by ${managerOf(owned.manager)}, which sets ${owned.path}: ` +
      'change it in Git, or wherever it is applied from',
  );
}

/**
 * Refuses the deletion of an object that Coppice did not create or that another field manager applies. Requires an
 * object from the API server, or from a cache that keeps withAppliers(). @throws Conflict, which names the manager.
 * @param inside the object to delete that contains this one, if any.
 */
export function requireOwn(object: KubernetesObject, inside?: KubernetesObject): void {
  const manager = otherManager(object);
  if (manager === undefined) return;
  const what = inside ? `${nameOf(inside)} cannot be deleted: it contains ${nameOf(object)}, which` : nameOf(object);
  throw new Conflict(
    `${what} is managed by ${managerOf(manager)}: ` + 'delete it in Git, or wherever it is applied from',
  );
}

/** Deletes an object that Coppice created. @throws Conflict as requireOwn() for the current object. */
export async function deleteOwn<T extends KubernetesObject>(
  cluster: Pick<ClusterWriter, 'find' | 'delete'>,
  type: ResourceType<T>,
  { metadata: { namespace, name, uid } }: T,
): Promise<void> {
  const current = await cluster.find(type, { namespace, name });
  if (current?.metadata.uid === uid && current) requireOwn(current);
  await cluster.delete(type, { namespace, name }, { uid });
}

function nameOf({ kind, metadata }: KubernetesObject): string {
  return `the ${kind} ${metadata.name}`;
}

function managerOf(manager: string): string {
  return manager === '' ? 'another field manager' : `the field manager ${manager}`;
}
