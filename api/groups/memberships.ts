import { GROUP, type Group } from '../../crds/group.ts';
import { otherManager } from '../../crds/ownership.ts';
import { isConflict, isNotFound } from '../../kubernetes/api-error.ts';
import { canSee, type Directory } from '../auth/visibility.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { NotFound } from '../shared/errors.ts';
import { withdrawInvitation } from '../user-records/group-invitation.ts';
import type { User } from '../user-records/user-record.ts';

/** Maximum number of attempts to delete a group that others write at the same time. */
const maxTries = 20;

export interface MembershipOptions {
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'delete' | 'exclusively'>;
  cache: Caches['groups'];
  directory: Pick<Directory, 'repositories' | 'madeBy'>;
}

/** Ends the memberships of an account that is deleted. A group left empty is deleted if permitted. */
export class Memberships {
  readonly #options: MembershipOptions;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** Removes an address from every group. @returns the names of groups that remain without members. */
  leaveAll(email: string): Promise<string[]> {
    return this.#leave(email, this.#options.cache.byIndex('member', email));
  }

  /** Removes an account from the groups that it sees, and no others that name its address. @returns as leaveAll() */
  leaveSeen(user: User): Promise<string[]> {
    const named = this.#options.cache.byIndex('member', user.email);
    return this.#leave(
      user.email,
      named.filter((group) => canSee(user, group)),
    );
  }

  async #leave(email: string, groups: readonly Group[]): Promise<string[]> {
    const left: string[] = [];
    for (const group of groups) {
      if (await this.#takeOut(group, email)) left.push(group.metadata.name);
    }
    return left;
  }

  /**
   * Removes an address from the groups that an unverified account of it created: the address's owner must not mistake a
   * group that others can access for their own.
   */
  async leaveMade({ accountId, email }: Pick<User, 'accountId' | 'email'>): Promise<void> {
    for (const group of this.#options.directory.madeBy({ accountId })) {
      if (group.spec.members.includes(email)) await this.#takeOut(group, email);
    }
  }

  /**
   * Removes a member from a group, and deletes a group without repositories that the API created and that has no
   * members left.
   * @returns whether the group remains without members
   */
  async #takeOut(group: Group, email: string): Promise<boolean> {
    const { cluster, cache } = this.#options;
    const isDeleted = await this.#deleteOf(group, email);
    try {
      // The object of a deleted group stays until its namespace is gone; a later account of the address must not see it.
      const { after } = await updateChecked(cluster, cache, GROUP, group, ({ spec }) => ({
        metadata: { annotations: withdrawInvitation(email) },
        spec: {
          members: spec.members.filter((member) => member !== email),
          ...(spec.owners && { owners: spec.owners.filter((owner) => owner !== email) }),
        },
      }));
      return !isDeleted && after.spec.members.length === 0;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }

  /**
   * Deletes a group whose last member this is, if permitted. The operator writes the status of a new group, so a
   * deletion can conflict although nobody has joined.
   * @returns whether it was deleted
   */
  async #deleteOf(group: Group, email: string): Promise<boolean> {
    const { cluster, directory } = this.#options;
    const { name, uid } = group.metadata;
    let current: Group | undefined = group;
    for (let left = maxTries; left > 0; left--) {
      if (current?.metadata.uid !== uid || current === undefined) return true;
      if (current.spec.members.some((member) => member !== email)) return false;
      if (otherManager(current) !== undefined || directory.repositories(current).length > 0) return false;
      const { resourceVersion } = current.metadata;
      try {
        await cluster.delete(GROUP, { name }, { uid, resourceVersion });
        return true;
      } catch (error) {
        if (isNotFound(error)) return true;
        if (!isConflict(error)) throw error;
      }
      current = await cluster.find<Group>(GROUP, { name });
    }
    return false;
  }
}
