import { LABELS, MANAGED_BY } from '../../crds/labels.ts';

export interface EnvironmentIdentity {
  group: string;
  name: string;
  uid: string;
}

/** On everything that belongs to one Environment: by these the operator finds its way back to it. */
export function ownedLabels({ group, name, uid }: EnvironmentIdentity): Record<string, string> {
  return {
    [LABELS.managedBy]: MANAGED_BY,
    [LABELS.group]: group,
    [LABELS.environment]: name,
    [LABELS.environmentUid]: uid,
  };
}
