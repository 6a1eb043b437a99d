import type { Environment } from '../../crds/environment.ts';
import { gitRefKey } from '../../crds/git-ref.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';

/** For the indexes `repository` and `ref` of the Environments. */
export const environmentIndexes = {
  repository: ({ metadata, spec }: Environment) => [objectKey(metadata.namespace, spec.repository)],
  ref: (environment: Environment) => [refIndexValue(environment)],
};

/** What an Environment shares with its clones alone. */
export function refIndexValue({ metadata, spec }: Environment): string {
  return `${objectKey(metadata.namespace, spec.repository)}/${gitRefKey(spec.gitRef)}`;
}

/** The key of the Environment that an object was made for, or undefined for anything else. */
export function environmentKeyOf({ metadata }: KubernetesObject): string | undefined {
  const group = metadata.labels?.[LABELS.group];
  const environment = metadata.labels?.[LABELS.environment];
  return group === undefined || environment === undefined ? undefined : objectKey(groupNamespace(group), environment);
}
