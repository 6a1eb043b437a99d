import { groupNamespace, parseId } from '../../crds/ids.ts';

/** Returns the namespace and name of an ID's custom resource: `acme.shop-main` is `shop-main` in `group-acme`. */
export function objectOf(id: string): { namespace: string; name: string } {
  const parts = parseId(id);
  if (!parts) throw new Error(`${id} is not an id`);
  return { namespace: groupNamespace(parts.group), name: parts.name };
}
