import { GROUP, type Group } from '../../crds/group.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Invalid } from '../shared/errors.ts';
import { acceptance, invitingGroup, isInvited } from '../user-records/group-invitation.ts';
import type { User } from '../user-records/user-record.ts';

export function invalidInvitation(): Invalid {
  const message = 'is not valid: it may be for another address, used already, or older than a week. Ask for a new one';
  return new Invalid('the invitation is not valid', { details: [{ path: 'invitation', message }] });
}

export interface GroupInvitationOptions {
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'exclusively'>;
  cache: Caches['groups'];
  now: () => number;
}

/** Accepts invitations to groups. */
export class GroupInvitations {
  readonly #options: GroupInvitationOptions;

  constructor(options: GroupInvitationOptions) {
    this.#options = options;
  }

  /** Returns the current state of the group that the address can join with the invitation. @throws Invalid */
  async find(invitation: string, email: string): Promise<Group> {
    const { cluster, now } = this.#options;
    const name = invitingGroup(invitation);
    const group = name === undefined ? undefined : await cluster.find<Group>(GROUP, { name });
    if (!group || !isInvited(group, email, invitation, now())) throw invalidInvitation();
    return group;
  }

  /**
   * Opens the group to the account and ends the invitation, in one write.
   * @throws Invalid when it has been used meanwhile
   */
  async accept(group: Group, user: User, invitation: string): Promise<void> {
    const { cluster, cache, now } = this.#options;
    const change = (current: Group) => {
      if (!isInvited(current, user.email, invitation, now())) throw invalidInvitation();
      return { metadata: { annotations: acceptance(user) } };
    };
    await updateChecked(cluster, cache, GROUP, group, change, invalidInvitation);
  }
}
