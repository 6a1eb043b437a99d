import { LABELS, MANAGED_BY } from '../../../../crds/labels.ts';

export interface EnvironmentIdentity {
  group: string;
  name: string;
  uid: string;
}

/** Labels of everything that belongs to one Environment, by which the operator finds it. */
export function ownedLabels({ group, name, uid }: EnvironmentIdentity): Record<string, string> {
  return {
    [LABELS.managedBy]: MANAGED_BY,
    [LABELS.group]: group,
    [LABELS.environment]: name,
    [LABELS.environmentUid]: uid,
  };
}
