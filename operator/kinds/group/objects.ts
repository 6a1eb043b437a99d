import type { Group } from '../../../crds/group.ts';
import { groupNamespace } from '../../../crds/ids.ts';
import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import type { Namespace, RoleBinding } from '../../../kubernetes/resource-type.ts';

/** On what belongs to a group as a whole. */
export function groupLabels(group: string): Record<string, string> {
  return { [LABELS.managedBy]: MANAGED_BY, [LABELS.group]: group };
}

/** Whether it was made for this very group, and not for another one of its name. */
export function isNamespaceOf({ metadata }: Group, namespace: Namespace): boolean {
  return namespace.metadata.annotations?.[ANNOTATIONS.ownerUid] === metadata.uid;
}

/** Whether an administrator made the namespace and labelled it for this group. */
export function isOffered({ metadata }: Group, { metadata: { annotations, labels } }: Namespace): boolean {
  return annotations?.[ANNOTATIONS.ownerUid] === undefined && labels?.[LABELS.group] === metadata.name;
}

const podSecurity = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** The namespace that Coppice makes for a group; nothing is ever meant to run in it. */
export function groupNamespaceObject(group: Group): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: groupNamespace(group.metadata.name),
      labels: { ...groupLabels(group.metadata.name), ...podSecurity },
      annotations: { [ANNOTATIONS.ownerUid]: group.metadata.uid ?? '' },
    },
  };
}

/**
 * A group's namespace that an administrator made: with their own labels, and with Pod Security as in one that Coppice
 * makes. It is not labelled as Coppice's, for it is not Coppice's to delete.
 */
export function offeredNamespaceObject(group: Group): Namespace {
  const { name } = group.metadata;
  const labels = { [LABELS.group]: name, ...podSecurity };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: groupNamespace(name), labels } };
}

/** The ClusterRoles that are bound in each group's namespace, and whom the second one is bound to. */
export interface GroupRoles {
  member: string;
  api: string;
  apiServiceAccount: { namespace: string; name: string };
}

/** The role that each RoleBinding of a group binds, by the RoleBinding's name. */
export const boundRoles = ({ member, api }: GroupRoles) => ({ members: member, api });

/** Whether a RoleBinding of such a name is Coppice's: by its role, which nobody can change, and not by labels, which one can. */
export function bindsRole({ roleRef }: RoleBinding, role: string): boolean {
  return roleRef.kind === 'ClusterRole' && roleRef.name === role;
}

/**
 * Let the members, whom the cluster knows by their e-mail addresses, look at what is theirs; and the API, which has no
 * such right elsewhere, keep credentials and the values of variables there.
 */
export function roleBindings(group: Group, roles: GroupRoles): RoleBinding[] {
  const { members, api } = boundRoles(roles);
  const users = group.spec.members.map((email) => ({ apiGroup: rbac, kind: 'User', name: email }));
  return [
    roleBinding(group, 'members', members, users),
    roleBinding(group, 'api', api, [{ kind: 'ServiceAccount', ...roles.apiServiceAccount }]),
  ];
}

const rbac = 'rbac.authorization.k8s.io';

function roleBinding(group: Group, name: string, role: string, subjects: RoleBinding['subjects']): RoleBinding {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace: groupNamespace(group.metadata.name), labels: groupLabels(group.metadata.name) },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects,
  };
}
