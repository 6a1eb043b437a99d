import { z } from 'zod';
import { FIELD_MANAGERS, LABELS, MANAGED_BY } from '../crds/labels.ts';
import type { KubernetesObject } from '../kubernetes/resource-type.ts';

const fieldsSchema = z.array(
  z.object({
    manager: z.string().optional(),
    operation: z.string().optional(),
    subresource: z.string().optional(),
  }),
);
const coppice: readonly (string | undefined)[] = Object.values(FIELD_MANAGERS);
/** What `kubectl apply` leaves where it does not apply on the server's side. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Whether Coppice made the object. */
export function isMadeByCoppice({ metadata }: Pick<KubernetesObject, 'metadata'>): boolean {
  return metadata.labels?.[LABELS.managedBy] === MANAGED_BY;
}

/**
 * Whether somebody else, a GitOps tool or kubectl, has applied it since: then it is theirs to delete, or it would come
 * back. To be asked of what the API server answers, or of a cache that keeps withAppliers().
 */
export function isAppliedByOthers({ metadata }: Pick<KubernetesObject, 'metadata'>): boolean {
  return metadata.annotations?.[lastApplied] !== undefined || appliers(metadata).length > 0;
}

/** For an informer: of the object's managedFields, which take more room than all else, what isAppliedByOthers() asks for. */
export function withAppliers<T extends KubernetesObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return object;
  const kept = appliers(object.metadata);
  return { ...object, metadata: { ...metadata, ...(kept.length > 0 && { managedFields: kept }) } };
}

/** Who beside Coppice applies the object itself, on the server's side. */
function appliers({ managedFields = [] }: KubernetesObject['metadata']) {
  const fields = fieldsSchema.safeParse(managedFields).data ?? [];
  return fields.filter(
    ({ manager, operation, subresource = '' }) =>
      operation === 'Apply' && subresource === '' && !coppice.includes(manager),
  );
}
