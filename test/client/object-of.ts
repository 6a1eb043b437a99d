import { groupNamespace, parseId } from '../../crds/ids.ts';

/** Where the custom resource of an id is: `acme.shop-main` is `shop-main` in `group-acme`. */
export function objectOf(id: string): { namespace: string; name: string } {
  const parts = parseId(id);
  if (!parts) throw new Error(`${id} is not an id`);
  return { namespace: groupNamespace(parts.group), name: parts.name };
}
