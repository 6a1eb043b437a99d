import type { Group } from '../../../../crds/group.ts';
import { environmentNamespace } from '../../../../crds/environment-address.ts';
import { groupNamespace, type ResourceId } from '../../../../crds/ids.ts';
import { LABELS } from '../../../../crds/labels.ts';
import { isMadeByCoppice } from '../../../../crds/ownership.ts';
import type { Informer } from '../../../../kubernetes/informer.ts';
import { objectKey, type Namespace } from '../../../../kubernetes/resource-type.ts';
import { Stalled } from '../../../shared/errors.ts';

export interface EnvironmentQuotaOptions {
  groups: Pick<Informer<Group>, 'get'>;
  /** Its index `environments` lists the namespaces of a group's environments. */
  namespaces: Pick<Informer<Namespace>, 'byIndex' | 'get'>;
  /** The limit of groups that set none. */
  maxPerGroup: number;
  /** Requeues the Environment of this key. */
  enqueue: (key: string) => void;
}

/**
 * Limits the environments with contents per group. Existing contents keep their slot until their namespace is gone,
 * also during a rebuild. One process decides synchronously, so that two environments cannot get the last slot.
 */
export class EnvironmentQuota {
  readonly #options: EnvironmentQuotaOptions;
  /** By group, the names of environments that hold a slot. */
  readonly #holders = new Map<string, Set<string>>();
  readonly #waiting = new Map<string, Set<string>>();

  constructor(options: EnvironmentQuotaOptions) {
    this.#options = options;
  }

  /**
   * Takes a slot. Throws Stalled when the group has reached its limit; the environment is requeued when a slot may be
   * free.
   */
  take({ group, name }: ResourceId): void {
    const holders = entry(this.#holders, group);
    if (holders.has(name)) return;
    // Not counted for each environment that has contents: at a start that would be all of the group, for all of them.
    if (!this.#hasNamespace({ group, name })) this.#requireSlot({ group, name });
    holders.add(name);
    remove(this.#waiting, group, name);
  }

  /** Releases the slot of an environment that has no contents and needs none. */
  free({ group, name }: ResourceId): void {
    remove(this.#waiting, group, name);
    remove(this.#holders, group, name);
    this.requeueWaiting(group);
  }

  /** Requeues waiting environments when a slot may be free. */
  requeueWaiting(group: string): void {
    const waiting = this.#waiting.get(group);
    if (!waiting?.size || this.#taken(group).size >= this.#max(group)) return;
    for (const name of waiting) this.#options.enqueue(objectKey(groupNamespace(group), name));
  }

  #requireSlot({ group, name }: ResourceId): void {
    const taken = this.#taken(group);
    const max = this.#max(group);
    if (taken.size < max) return;
    entry(this.#waiting, group).add(name);
    throw new Stalled(
      'TooManyEnvironments',
      `the group ${group} has reached its limit of ${max} active environments. ` +
        'Delete the contents of one, or ask an administrator to raise the limit',
    );
  }

  /** Returns whether the environment's namespace counts already. */
  #hasNamespace({ group, name }: ResourceId): boolean {
    const namespace = this.#options.namespaces.get(environmentNamespace({ group, name }));
    if (!namespace || !isMadeByCoppice(namespace)) return false;
    const { labels = {} } = namespace.metadata;
    return labels[LABELS.group] === group && labels[LABELS.environment] === name;
  }

  #max(group: string): number {
    const { groups, maxPerGroup } = this.#options;
    return groups.get(group)?.spec.maxActiveEnvironments ?? maxPerGroup;
  }

  /** Returns the names of environments that hold a slot or whose namespaces exist, including those being deleted. */
  #taken(group: string): Set<string> {
    const namespaces = this.#options.namespaces.byIndex('environments', group);
    const there = namespaces.flatMap(({ metadata }) => metadata.labels?.[LABELS.environment] ?? []);
    return new Set([...(this.#holders.get(group) ?? []), ...there]);
  }
}

function remove(sets: Map<string, Set<string>>, key: string, name: string): void {
  const set = sets.get(key);
  set?.delete(name);
  if (set?.size === 0) sets.delete(key);
}

function entry(sets: Map<string, Set<string>>, key: string): Set<string> {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set);
  return set;
}
