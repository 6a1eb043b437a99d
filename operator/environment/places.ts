import type { Group } from '../../crds/group.ts';
import { groupNamespace, type ResourceId } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { objectKey, type Namespace } from '../../kubernetes/resource-type.ts';
import { Stalled } from '../errors.ts';

export interface PlacesParts {
  groups: Pick<Informer<Group>, 'get'>;
  /** By the index `environments` those of a group's environments. */
  namespaces: Pick<Informer<Namespace>, 'byIndex'>;
  /** Of groups that name no number of their own. */
  mostPerGroup: number;
  /** Has the Environment of this key looked at again. */
  enqueue: (key: string) => void;
}

/**
 * Which environments may have contents: so many of a group at once as it may have. What is there keeps its place, until
 * its namespace is gone; a rebuild keeps it in between. One process decides, in one step, so that no two get the last one.
 */
export class Places {
  readonly #parts: PlacesParts;
  /** By group, the names of those that have a place, or were given one just now. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Set<string>>();

  constructor(parts: PlacesParts) {
    this.#parts = parts;
  }

  /** Throws Stalled when the group has as many as it may. It is looked at again when there may be room. */
  take({ group, name }: ResourceId): void {
    const holders = entry(this.#holders, group);
    if (holders.has(name)) return;
    const taken = this.#taken(group);
    const most = this.#most(group);
    if (!taken.has(name) && taken.size >= most) {
      entry(this.#waiting, group).add(name);
      throw new Stalled(
        'TooManyEnvironments',
        `the group ${group} may have contents in ${most} environments at once, and has: ` +
          'delete those of another one, or ask an administrator for more',
      );
    }
    holders.add(name);
    this.#waiting.get(group)?.delete(name);
  }

  /** Nothing of it is there any more, nor wanted. */
  free({ group, name }: ResourceId): void {
    this.#waiting.get(group)?.delete(name);
    this.#holders.get(group)?.delete(name);
    this.lookAgain(group);
  }

  /** There may be room: one went, or the group may have more. */
  lookAgain(group: string): void {
    const waiting = this.#waiting.get(group);
    if (!waiting?.size || this.#taken(group).size >= this.#most(group)) return;
    for (const name of waiting) this.#parts.enqueue(objectKey(groupNamespace(group), name));
  }

  #most(group: string): number {
    const { groups, mostPerGroup } = this.#parts;
    return groups.get(group)?.spec.mostEnvironments ?? mostPerGroup;
  }

  /** The names of those that have a place, and of those whose namespaces are there, on their way out too. */
  #taken(group: string): Set<string> {
    const namespaces = this.#parts.namespaces.byIndex('environments', group);
    const there = namespaces.flatMap(({ metadata }) => metadata.labels?.[LABELS.environment] ?? []);
    return new Set([...(this.#holders.get(group) ?? []), ...there]);
  }
}

function entry(sets: Map<string, Set<string>>, key: string): Set<string> {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  return set;
}
