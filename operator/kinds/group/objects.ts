import type { Group } from '../../../crds/group.ts';
import { groupNamespace } from '../../../crds/ids.ts';
import { ANNOTATIONS, LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import type { Namespace, RoleBinding } from '../../../kubernetes/resource-type.ts';

/** Returns the labels of objects that belong to a group as a whole. */
export function groupLabels(group: string): Record<string, string> {
  return { [LABELS.managedBy]: MANAGED_BY, [LABELS.group]: group };
}

/** Returns whether the namespace was created for this group, not for another one of its name. */
export function isNamespaceOf({ metadata }: Group, namespace: Namespace): boolean {
  return namespace.metadata.annotations?.[ANNOTATIONS.ownerUid] === metadata.uid;
}

/** Returns whether an administrator created the namespace and labeled it for this group. */
export function isOffered({ metadata }: Group, { metadata: { annotations, labels } }: Namespace): boolean {
  return annotations?.[ANNOTATIONS.ownerUid] === undefined && labels?.[LABELS.group] === metadata.name;
}

const podSecurity = { 'pod-security.kubernetes.io/enforce': 'restricted' };

/** Returns the namespace that Coppice creates for a group; it contains no workloads. */
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
 * Returns an administrator's namespace for a group with the Pod Security labels of Coppice's own. It does not get the
 * label of objects that Coppice can delete.
 */
export function offeredNamespaceObject(group: Group): Namespace {
  const { name } = group.metadata;
  const labels = { [LABELS.group]: name, ...podSecurity };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: groupNamespace(name), labels } };
}

/** The ClusterRoles bound in each group's namespace, and the subject of the second one. */
export interface GroupRoles {
  member: string;
  api: string;
  apiServiceAccount: { namespace: string; name: string };
}

/** The role of each RoleBinding of a group, by the RoleBinding's name. */
export const boundRoles = ({ member, api }: GroupRoles) => ({ members: member, api });

/**
 * Returns whether a RoleBinding with Coppice's name is Coppice's, judged by its role, which is immutable, instead of
 * its labels.
 */
export function bindsRole({ roleRef }: RoleBinding, role: string): boolean {
  return roleRef.kind === 'ClusterRole' && roleRef.name === role;
}

/**
 * Returns the RoleBindings of a group: members, whom the cluster knows by their e-mail addresses, can view its objects;
 * the API can store credentials and values of variables, for which it has no permission elsewhere.
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
