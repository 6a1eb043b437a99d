import type { Group } from '../../../crds/group.ts';
import { groupNamespace, groupOfNamespace } from '../../../crds/ids.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Namespace } from '../../../kubernetes/resource-type.ts';
import { Waiting } from '../../shared/errors.ts';
import { isOffered, isNamespaceOf } from './objects.ts';

/** Fallback for a missed event of the watched Groups and namespaces, in milliseconds. */
const recheckMs = 10 * 60_000;

/** Determines which namespaces belong to Groups. */
export class GroupMembership {
  readonly #groups: Pick<Informer<Group>, 'get'>;
  readonly #namespaces: Pick<Informer<Namespace>, 'get'>;

  constructor(groups: Pick<Informer<Group>, 'get'>, namespaces: Pick<Informer<Namespace>, 'get'>) {
    this.#groups = groups;
    this.#namespaces = namespaces;
  }

  /** Returns why objects in the namespace are not reconciled, if it belongs to no Group; otherwise undefined. */
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
