import type { Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { Namespace, RoleBinding } from '../../kubernetes/resource-type.ts';

function labels(group: Group): Record<string, string> {
  return { [LABELS.managedBy]: MANAGED_BY, [LABELS.group]: group.metadata.name };
}

/** The namespace that Coppice makes for a group; nothing is ever meant to run in it. */
export function groupNamespaceObject(group: Group): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: groupNamespace(group.metadata.name),
      labels: { ...labels(group), 'pod-security.kubernetes.io/enforce': 'restricted' },
      annotations: { [ANNOTATIONS.ownerUid]: group.metadata.uid ?? '' },
    },
  };
}

export const MEMBERS_BINDING = 'members';

/** Lets the members, whom the cluster knows by their e-mail addresses, look at what is theirs. */
export function memberBinding(group: Group, memberRole: string): RoleBinding {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: MEMBERS_BINDING, namespace: groupNamespace(group.metadata.name), labels: labels(group) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: memberRole },
    subjects: group.spec.members.map((email) => ({
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'User',
      name: email,
    })),
  };
}
