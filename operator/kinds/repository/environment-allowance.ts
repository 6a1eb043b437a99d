import type { Environment } from '../../../crds/environment.ts';
import { creatorOf, type Group } from '../../../crds/group.ts';
import { groupNamespace, groupOfNamespace } from '../../../crds/ids.ts';
import type { Repository } from '../../../crds/repository.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey } from '../../../kubernetes/resource-type.ts';

export interface EnvironmentAllowanceOptions {
  groups: Pick<Informer<Group>, 'get' | 'list'>;
  environments: Pick<Informer<Environment>, 'byIndex'>;
  /** Maximum number of environments that the refs of one Repository create. */
  perRepository: number;
  /** Maximum for all Repositories in the groups that one account created through the REST API. */
  perAccount: number;
}

/**
 * Limits the Environments that syncs create: a push of thousands of branches must not create as many objects.
 * Environments that users spawned are counted, but never refused here.
 */
export class EnvironmentAllowance {
  readonly #options: EnvironmentAllowanceOptions;

  constructor(options: EnvironmentAllowanceOptions) {
    this.#options = options;
  }

  /** Returns the maximum number of Environments of the Repository. */
  of({ metadata: { namespace = '', name } }: Repository): number {
    const { groups, environments, perRepository, perAccount } = this.#options;
    const creator = creatorOf(groups.get(groupOfNamespace(namespace) ?? ''));
    if (creator === undefined) return perRepository;
    const ofAccount = groups.list().filter((group) => creatorOf(group) === creator);
    const there = ofAccount.flatMap((group) => environments.byIndex('namespace', groupNamespace(group.metadata.name)));
    const own = environments.byIndex('repository', objectKey(namespace, name)).length;
    return Math.min(perRepository, Math.max(0, perAccount - (there.length - own)));
  }
}
