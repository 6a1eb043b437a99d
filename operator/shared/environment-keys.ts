import type { Environment } from '../../crds/environment.ts';
import { gitRefKey } from '../../crds/git-ref.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';

/** The indexes of Environments. `included`: by the other repositories that their service files include. */
export const ENVIRONMENT_INDEXES = {
  repository: ({ metadata, spec }: Environment) => [objectKey(metadata.namespace, spec.repository)],
  included: ({ metadata, status }: Environment) =>
    (status?.repositories ?? []).map(({ name }) => objectKey(metadata.namespace, name)),
  ref: (environment: Environment) => [refIndexValue(environment)],
  uid: ({ metadata }: Environment) => [metadata.uid ?? ''],
};

/** Returns what identifies an Environment's repository and ref; environments of the same ref share it. */
export function refIndexValue({ metadata, spec }: Environment): string {
  return `${objectKey(metadata.namespace, spec.repository)}/${gitRefKey(spec.gitRef)}`;
}

/** Returns the key of the Environment that an object belongs to; undefined for other objects. */
export function environmentKeyOf({ metadata }: KubernetesObject): string | undefined {
  const group = metadata.labels?.[LABELS.group];
  const environment = metadata.labels?.[LABELS.environment];
  return group === undefined || environment === undefined ? undefined : objectKey(groupNamespace(group), environment);
}
