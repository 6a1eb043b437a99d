/**
 * IDs of the REST API: `<group>` for a group, `<group>.<resource name>` for an object in its namespace. Names have no
 * dots (the CRDs refuse them), so an ID can be parsed and read directly.
 */
export interface ResourceId {
  group: string;
  name: string;
}

const dnsLabel = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const groupNamespacePrefix = 'group-';

export function isResourceName(name: string): boolean {
  return dnsLabel.test(name);
}

export function formatId(id: ResourceId): string {
  return `${id.group}.${id.name}`;
}

/** Returns the ID of an object in a group's namespace; its group is empty if it is in another one. */
export function idOf({ metadata: { namespace = '', name } }: ObjectInNamespace): ResourceId {
  return { group: groupOfNamespace(namespace) ?? '', name };
}

interface ObjectInNamespace {
  metadata: { namespace?: string | undefined; name: string };
}

/** Returns the parts of an ID, or undefined if it is not valid. */
export function parseId(id: string): ResourceId | undefined {
  const [group, name, ...rest] = id.split('.');
  if (group === undefined || name === undefined || rest.length > 0) return undefined;
  return isResourceName(group) && isResourceName(name) ? { group, name } : undefined;
}

export function groupNamespace(group: string): string {
  return `${groupNamespacePrefix}${group}`;
}

/** Returns the group of this namespace, or undefined for any other namespace. */
export function groupOfNamespace(namespace: string): string | undefined {
  return namespace.startsWith(groupNamespacePrefix) ? namespace.slice(groupNamespacePrefix.length) : undefined;
}
