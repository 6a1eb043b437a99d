import { GROUP, type Group } from '../../crds/group.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { isConflict, isNotFound } from '../../kubernetes/api-error.ts';
import type { Directory } from '../auth/directory.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { NotFound } from '../http/errors.ts';
import { withdrawInvitation } from '../users/group-invitation.ts';
import type { User } from '../users/user-record.ts';

export interface MembershipDependencies {
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'delete'>;
  cache: Caches['groups'];
  directory: Pick<Directory, 'repositories' | 'madeBy'>;
}

/** What becomes of an address's memberships when an account ends. A group that is left empty goes, where it may. */
export class Memberships {
  readonly #dependencies: MembershipDependencies;

  constructor(dependencies: MembershipDependencies) {
    this.#dependencies = dependencies;
  }

  /** Takes an address out of every group. @returns the names of those that stay, and nobody is in any more. */
  async leaveAll(email: string): Promise<string[]> {
    const left: string[] = [];
    for (const group of this.#dependencies.cache.byIndex('member', email)) {
      if (await this.#takeOut(group, email)) left.push(group.metadata.name);
    }
    return left;
  }

  /**
   * Takes an address out of the groups that an account made which somebody had under it without a proof: the address's
   * owner must not take a group for theirs that others were let into.
   */
  async leaveMade({ accountId, email }: Pick<User, 'accountId' | 'email'>): Promise<void> {
    for (const group of this.#dependencies.directory.madeBy({ accountId })) {
      if (group.spec.members.includes(email)) await this.#takeOut(group, email);
    }
  }

  /** A group without repositories that the API made goes with its last member. @returns whether it stays, empty. */
  async #takeOut(group: Group, email: string): Promise<boolean> {
    const { cluster, cache, directory } = this.#dependencies;
    const { name, uid, resourceVersion, labels } = group.metadata;
    const isLast = group.spec.members.every((member) => member === email);
    try {
      if (isLast && labels?.[LABELS.managedBy] === MANAGED_BY && directory.repositories(group).length === 0) {
        const isGone = await cluster.delete(GROUP, { name }, { uid, resourceVersion }).then(
          () => true,
          (error: unknown) => {
            if (isConflict(error)) return false;
            throw error;
          },
        );
        if (isGone) return false;
      }
      const { after } = await updateChecked(cluster, cache, GROUP, group, ({ spec }) => ({
        metadata: { annotations: withdrawInvitation(email) },
        spec: {
          members: spec.members.filter((member) => member !== email),
          ...(spec.owners && { owners: spec.owners.filter((owner) => owner !== email) }),
        },
      }));
      return after.spec.members.length === 0;
    } catch (error) {
      if (isNotFound(error) || error instanceof NotFound) return false;
      throw error;
    }
  }
}
