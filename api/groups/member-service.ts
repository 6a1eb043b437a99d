import { z } from 'zod';
import { GROUP, type Group } from '../../crds/group.ts';
import { otherManager } from '../../crds/ownership.ts';
import { objectKey } from '../../kubernetes/resource-type.ts';
import { canSee } from '../auth/visibility.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { requireRoom } from '../cluster/object-limits.ts';
import { requireNotApplied } from '../cluster/ownership.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Conflict, NotFound } from '../shared/errors.ts';
import { invitedUntil, inviteToGroup, withdrawInvitation } from '../user-records/group-invitation.ts';
import { userName, userOf, type User } from '../user-records/user-record.ts';
import {
  hasAnotherOwner,
  ownersOf,
  requireOwner,
  ROLES,
  withMember,
  withoutMember,
  withRole,
  type Accounts,
  type Membership,
  type Role,
} from './roles.ts';

const member = {
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES).meta({ description: 'Extension: an owner can also change members and delete the group.' }),
  invitationExpiresAt: z.iso.datetime().optional().meta({
    description:
      'Extension: when the invitation ends, or has ended, that the member has not accepted; otherwise absent.',
  }),
};
/** A member in a group's settings. `id` and `name` are the e-mail address. */
export const memberViewSchema = z.object(member).meta({ id: 'Member' });
export type MemberView = z.infer<typeof memberViewSchema>;

/** The response to adding a member; the invitation is shown only once. */
export const invitedMemberViewSchema = z
  .object({
    ...member,
    invitation: z.string().optional().meta({
      description:
        'Extension: an invitation for the new member, shown once. The account that accepts it sees the group, even if its address is not verified.',
    }),
  })
  .meta({ id: 'InvitedMember' });
export type InvitedMemberView = z.infer<typeof invitedMemberViewSchema>;

export interface MemberServiceOptions {
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'delete' | 'exclusively'>;
  cache: Caches['groups'];
  users: Pick<Caches['users'], 'get'>;
  usersNamespace: string;
  now: () => number;
  randomBytes: RandomBytes;
}

type Inviter = Pick<User, 'email' | 'accountId'>;

/** Manages the members of groups, by e-mail addresses in lower case. */
export class MemberService {
  readonly #options: MemberServiceOptions;

  constructor(options: MemberServiceOptions) {
    this.#options = options;
  }

  views(group: Group): MemberView[] {
    const owners = ownersOf(group, this.#accounts);
    return group.spec.members.map((email) => {
      const role = owners.includes(email) ? 'owner' : 'member';
      const invitationExpiresAt = invitedUntil(group, email);
      return { id: email, name: email, role, ...(invitationExpiresAt !== undefined && { invitationExpiresAt }) };
    });
  }

  /**
   * Adds a member, always with an invitation: otherwise its absence would reveal which addresses have an account.
   * @throws Conflict if they are a member already, or there are too many; Forbidden as withMember().
   */
  async add(group: Group, actor: Inviter, email: string, role: Role): Promise<InvitedMemberView[]> {
    const { now, randomBytes } = this.#options;
    const { invitation, annotations } = inviteToGroup(group, email, actor, now(), randomBytes);
    const change = (current: Group) => {
      const changed = withMember(current, actor.email, email, role, this.#accounts);
      requireRoom('the group', 'members', current.spec.members.length);
      return changed;
    };
    const views = this.views(await this.#change(group, change, annotations));
    return views.map((view) => (view.id === email ? { ...view, invitation } : view));
  }

  /** Changes a member's role. @throws as withRole() */
  async setRole(group: Group, actor: string, email: string, role: Role): Promise<MemberView[]> {
    return this.views(
      await this.#change(group, (current) => withRole(current, actor, email, role, this.#accounts), {}),
    );
  }

  /** Returns whether no other owner sees the group, so that nobody else could hand it on. */
  isOnlyOwner(group: Group, email: string): boolean {
    const owners = ownersOf(group, this.#accounts);
    return owners.includes(email) && !hasAnotherOwner(group, email, owners, this.#accounts);
  }

  /** Checks that the caller owns the group. @throws Forbidden */
  requireOwner(group: Group, actor: string, what: string): void {
    requireOwner(group, actor, what, this.#accounts);
  }

  /**
   * Also ends their invitation.
   * @param mustLeaveOthers whether another member who sees the group must remain, as for a group with repositories.
   * @throws Conflict if they are the last member, or the last one who sees the group; and as withoutMember().
   */
  async remove(group: Group, actor: string, email: string, mustLeaveOthers = false): Promise<Group> {
    const change = (current: Group) => {
      if (mustLeaveOthers && current.spec.members.includes(email)) this.#requireOthers(current, email);
      const changed = withoutMember(current, actor, email, this.#accounts);
      if (changed.members.length === 0)
        throw new Conflict('the last member of a group cannot be removed. Delete the group');
      return changed;
    };
    return this.#change(group, change, withdrawInvitation(email));
  }

  /**
   * Removes the caller from the group. A group that the API created is deleted with its last member.
   * @throws Conflict if no owner would remain, or if the group has repositories and no other member sees it: invited
   * members may never register
   */
  async leave(group: Group, email: string, hasRepositories: boolean): Promise<void> {
    if (group.spec.members.some((member) => member !== email)) {
      await this.remove(group, email, email, hasRepositories);
      return;
    }
    if (hasRepositories) this.#requireOthers(group, email);
    const { name } = group.metadata;
    const takeOut = () =>
      this.#change(group, (current) => withoutMember(current, email, email, this.#accounts), withdrawInvitation(email));
    const { cluster } = this.#options;
    const current = await cluster.find<Group>(GROUP, { name });
    if (!current || otherManager(current) !== undefined) {
      await takeOut();
      return;
    }
    await cluster.delete(GROUP, { name }, { uid: group.metadata.uid, resourceVersion: group.metadata.resourceVersion });
    // The object stays until its namespace is gone; members who have left do not see it meanwhile.
    await takeOut().catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }

  #requireOthers(group: Group, email: string): void {
    if (group.spec.members.some((member) => member !== email && this.#accounts.isSeenBy(group, member))) return;
    throw new Conflict(
      'the last member cannot leave a group that has repositories. Delete the repositories, or the group',
    );
  }

  get #accounts(): Accounts {
    const { users, usersNamespace } = this.#options;
    const accountOf = (email: string) => userOf(users.get(objectKey(usersNamespace, userName(email))));
    return {
      accountIdOf: (email) => accountOf(email)?.accountId,
      isSeenBy: (group, email) => {
        const user = accountOf(email);
        return user !== undefined && canSee(user, group);
      },
    };
  }

  async #change(
    group: Group,
    change: (current: Group) => Membership,
    annotations: Record<string, string | null>,
  ): Promise<Group> {
    const { cluster, cache } = this.#options;
    const patch = (current: Group) => {
      const spec = { ...change(current) };
      requireNotApplied(current, spec);
      return { metadata: { annotations }, spec };
    };
    return (await updateChecked(cluster, cache, GROUP, group, patch)).after;
  }
}
