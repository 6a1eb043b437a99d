import type { Group } from '../../../crds/group.ts';
import { groupNamespace, groupOfNamespace } from '../../../crds/ids.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Namespace } from '../../../kubernetes/resource-type.ts';
import { Waiting } from '../../shared/errors.ts';
import { isOffered, isNamespaceOf } from './objects.ts';

/** The Groups and namespaces are watched; this is for one that is missed. */
const recheckMs = 10 * 60_000;

/** Which namespaces belong to Groups. */
export class GroupMembership {
  readonly #groups: Pick<Informer<Group>, 'get'>;
  readonly #namespaces: Pick<Informer<Namespace>, 'get'>;

  constructor(groups: Pick<Informer<Group>, 'get'>, namespaces: Pick<Informer<Namespace>, 'get'>) {
    this.#groups = groups;
    this.#namespaces = namespaces;
  }

  /** Returns why what lies in the namespace is not worked on: it belongs to no Group; undefined where it does. */
  problem(namespace = ''): Waiting | undefined {
    const name = groupOfNamespace(namespace);
    if (name === undefined) return noGroup(namespace, 'create the object in the namespace group-NAME of a Group NAME');
    const group = this.#groups.get(name);
    if (!group) return noGroup(namespace, `create the Group ${name}`);
    const held = this.#namespaces.get(groupNamespace(name));
    if (held && (isNamespaceOf(group, held) || isOffered(group, held))) return undefined;
    return noGroup(namespace, `the Group ${name} reports why it does not own it`);
  }
}

function noGroup(namespace: string, remedy: string): Waiting {
  return new Waiting('NoGroup', `the namespace ${namespace} does not belong to a Group: ${remedy}`, recheckMs);
}
