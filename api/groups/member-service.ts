import { z } from 'zod';
import { GROUP, type Group } from '../../crds/group.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { objectKey } from '../../kubernetes/resource-type.ts';
import { maySee } from '../auth/directory.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { requireRoom } from '../cluster/most.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { Conflict, NotFound } from '../http/errors.ts';
import { inviteToGroup, withdrawInvitation } from '../users/group-invitation.ts';
import { userName, userOf } from '../users/user-record.ts';
import {
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
  role: z.enum(ROLES).meta({ description: 'Ours.' }),
};
/** Contract section 2, group settings: members. `id` and `name` are the e-mail address. */
export const memberViewSchema = z.object(member).meta({ id: 'Member' });
export type MemberView = z.infer<typeof memberViewSchema>;

/** What adding a member answers: the invitation is theirs, and is shown this once. */
export const invitedMemberViewSchema = z
  .object({
    ...member,
    invitation: z.string().optional().meta({
      description:
        'Ours, of the member just added, and shown once: an account of this address that accepts it sees the group, also where the address is not proven.',
    }),
    invitationExpiresAt: z.iso.datetime().optional().meta({ description: 'Ours: until when it can be accepted.' }),
  })
  .meta({ id: 'InvitedMember' });
export type InvitedMemberView = z.infer<typeof invitedMemberViewSchema>;

export interface MemberDependencies {
  cluster: Pick<ClusterWriter, 'find' | 'patch' | 'delete'>;
  cache: Caches['groups'];
  users: Pick<Caches['users'], 'get'>;
  usersNamespace: string;
  now: () => number;
  randomBytes: RandomBytes;
}

/** Who is in a group, by e-mail addresses in lower case. */
export class MemberService {
  readonly #dependencies: MemberDependencies;

  constructor(dependencies: MemberDependencies) {
    this.#dependencies = dependencies;
  }

  views(group: Group): MemberView[] {
    const owners = ownersOf(group, this.#accounts);
    return group.spec.members.map((email) => {
      const role = owners.includes(email) ? 'owner' : 'member';
      return { id: email, name: email, role };
    });
  }

  /**
   * Adds a member, always with an invitation: one that only some addresses got would tell which of them have an
   * account. @throws Conflict when they are a member already, or there are too many; Forbidden as withMember().
   */
  async add(group: Group, actor: string, email: string, role: Role): Promise<InvitedMemberView[]> {
    const { now, randomBytes } = this.#dependencies;
    const { invitation, expiresAt, annotations } = inviteToGroup(group, email, now(), randomBytes);
    const change = (current: Group) => {
      const changed = withMember(current, actor, email, role, this.#accounts);
      requireRoom('the group', 'members', current.spec.members.length);
      return changed;
    };
    const invited = { invitation, invitationExpiresAt: expiresAt };
    const views = this.views(await this.#change(group, change, annotations));
    return views.map((view) => (view.id === email ? { ...view, ...invited } : view));
  }

  /** @throws as withRole() */
  async setRole(group: Group, actor: string, email: string, role: Role): Promise<MemberView[]> {
    return this.views(
      await this.#change(group, (current) => withRole(current, actor, email, role, this.#accounts), {}),
    );
  }

  /** What only owners may do with a group as a whole. @throws Forbidden */
  requireOwner(group: Group, actor: string, what: string): void {
    requireOwner(group, actor, what, this.#accounts);
  }

  /**
   * Their invitation ends too.
   * @param mustLeaveOthers whether somebody who sees the group must be left: who leaves repositories behind.
   * @throws Conflict when they are the last one, or the last who sees the group; and as withoutMember().
   */
  async remove(group: Group, actor: string, email: string, mustLeaveOthers = false): Promise<Group> {
    const change = (current: Group) => {
      if (mustLeaveOthers && current.spec.members.includes(email)) this.#requireOthers(current, email);
      const changed = withoutMember(current, actor, email, this.#accounts);
      if (changed.members.length === 0)
        throw new Conflict('the last member of a group cannot be removed; delete the group');
      return changed;
    };
    return this.#change(group, change, withdrawInvitation(email));
  }

  /**
   * Takes the caller out. A group that nobody is left in would be seen by nobody: one that the API made goes with its
   * last member. @throws Conflict when it has repositories, and no other member sees it: those who were invited may
   * never come; and when no owner would be left.
   */
  async leave(group: Group, email: string, hasRepositories: boolean): Promise<void> {
    if (group.spec.members.some((member) => member !== email)) {
      await this.remove(group, email, email, hasRepositories);
      return;
    }
    if (hasRepositories) this.#requireOthers(group, email);
    const { name, uid, resourceVersion, labels } = group.metadata;
    const takeOut = () =>
      this.#change(group, (current) => withoutMember(current, email, email, this.#accounts), withdrawInvitation(email));
    if (labels?.[LABELS.managedBy] !== MANAGED_BY) {
      await takeOut();
      return;
    }
    await this.#dependencies.cluster.delete(GROUP, { name }, { uid, resourceVersion });
    // The object stays until its namespace is gone: whoever has left does not see it meanwhile.
    await takeOut().catch((error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
    });
  }

  #requireOthers(group: Group, email: string): void {
    if (group.spec.members.some((member) => member !== email && this.#accounts.isSeenBy(group, member))) return;
    throw new Conflict('the last member cannot leave a group that has repositories; delete them, or the group');
  }

  get #accounts(): Accounts {
    const { users, usersNamespace } = this.#dependencies;
    const accountOf = (email: string) => userOf(users.get(objectKey(usersNamespace, userName(email))));
    return {
      accountIdOf: (email) => accountOf(email)?.accountId,
      isSeenBy: (group, email) => {
        const user = accountOf(email);
        return user !== undefined && maySee(user, group);
      },
    };
  }

  async #change(
    group: Group,
    change: (current: Group) => Membership,
    annotations: Record<string, string | null>,
  ): Promise<Group> {
    const { cluster, cache } = this.#dependencies;
    const patch = (current: Group) => ({ metadata: { annotations }, spec: change(current) });
    return (await updateChecked(cluster, cache, GROUP, group, patch)).after;
  }
}
