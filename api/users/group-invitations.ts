import { z } from 'zod';
import { GROUP, type Group } from '../../crds/group.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Invalid } from '../shared/errors.ts';
import { acceptance, invitingGroup, isInvited, openInvitation } from '../user-records/group-invitation.ts';
import { userName, type User } from '../user-records/user-record.ts';
import type { UserStore } from '../auth/user-store.ts';

export function invalidInvitation(): Invalid {
  const message = 'is not valid: it may be for another address, used already, or older than a week. Ask for a new one';
  return new Invalid('the invitation is not valid', { details: [{ path: 'invitation', message }] });
}

/** An invitation, as whoever has its text sees it before they accept. */
export const invitationViewSchema = z
  .object({
    kind: z.enum(['group', 'administrator']).meta({
      description:
        "Whether it opens a group. A text in the form of an administrator's invitation is not checked until it is accepted.",
    }),
    group: z
      .object({ id: z.string(), name: z.string() })
      .optional()
      .meta({ description: 'The group that it opens; its members choose the name.' }),
    email: z.string().optional().meta({
      description: 'The address that can accept it, whole only for a login of that address: `v…@example.com`.',
    }),
    invitedBy: z.string().optional().meta({
      description:
        'The member who invites, for a login of the invited address, if the address of the member is verified.',
    }),
    expiresAt: z.iso.datetime().optional(),
  })
  .meta({ id: 'Invitation', description: 'Extension.' });
export type InvitationView = z.infer<typeof invitationViewSchema>;

export interface GroupInvitationOptions {
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'exclusively'>;
  cache: Caches['groups'];
  users: Pick<UserStore, 'cached'>;
  now: () => number;
}

/** Accepts invitations to groups. */
export class GroupInvitations {
  readonly #options: GroupInvitationOptions;

  constructor(options: GroupInvitationOptions) {
    this.#options = options;
  }

  /**
   * Returns what an invitation is for. It reads the cache alone, because the request needs no login. An administrator's
   * invitation is not examined: which account it is for can be found only by the address. Others learn neither the
   * whole address nor who invites: with a link that went astray they could register the address and accept.
   * @param email of whoever is signed in
   * @throws Invalid if it is not an invitation, or not valid now
   */
  view(invitation: string, email: string | undefined): InvitationView {
    if (/^a\.[A-Za-z0-9_-]{43}$/.test(invitation)) return { kind: 'administrator' };
    const { cache, now } = this.#options;
    const name = invitingGroup(invitation);
    const group = name === undefined ? undefined : cache.get(name);
    const open = group && openInvitation(group, invitation, now());
    if (!group || !open) throw invalidInvitation();
    const { name: id } = group.metadata;
    const { by, expiresAt } = open;
    const view = { kind: 'group' as const, group: { id, name: group.spec.displayName ?? id }, expiresAt };
    if (open.email !== email) return { ...view, email: masked(open.email) };
    return { ...view, email, ...(by && this.#isVerified(by) && { invitedBy: by.email }) };
  }

  /** Anyone can register the address of another person; only a verified account is shown as its owner. */
  #isVerified({ email, accountId }: Pick<User, 'email' | 'accountId'>): boolean {
    const account = this.#options.users.cached(userName(email));
    return account !== undefined && account.accountId === accountId && account.verified;
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

/** Returns enough of an address for its owner to recognize it: `v…@example.com`. */
function masked(email: string): string {
  return `${email.slice(0, 1)}…${email.slice(email.lastIndexOf('@'))}`;
}
