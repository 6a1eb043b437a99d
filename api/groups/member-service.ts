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

const member = { id: z.string(), name: z.string() };
/** Contract section 2, group settings: members. Both are the e-mail address. */
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

export function memberViews({ spec }: Group): MemberView[] {
  return spec.members.map((email) => ({ id: email, name: email }));
}

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

  /**
   * Adds a member, always with an invitation: one that only some addresses got would tell which of them have an
   * account. @throws Conflict when they are a member already, or there are too many.
   */
  async add(group: Group, email: string): Promise<InvitedMemberView[]> {
    const { now, randomBytes } = this.#dependencies;
    const { invitation, expiresAt, annotations } = inviteToGroup(group, email, now(), randomBytes);
    const change = ({ spec: { members } }: Group) => {
      if (members.includes(email)) throw new Conflict('the group has this member already');
      requireRoom('the group', 'members', members.length);
      return [...members, email];
    };
    const invited = { invitation, invitationExpiresAt: expiresAt };
    const views = memberViews(await this.#change(group, change, annotations));
    return views.map((view) => (view.id === email ? { ...view, ...invited } : view));
  }

  /**
   * Their invitation ends too.
   * @param mustLeaveOthers whether somebody who sees the group must be left: who leaves repositories behind.
   * @throws NotFound when they are no member; Conflict when they are the last one, or the last who sees the group.
   */
  async remove(group: Group, email: string, mustLeaveOthers = false): Promise<Group> {
    const change = (current: Group) => {
      const { members } = current.spec;
      if (!members.includes(email)) throw new NotFound('no such member');
      if (mustLeaveOthers) this.#requireOthers(current, email);
      if (members.length === 1) throw new Conflict('the last member of a group cannot be removed; delete the group');
      return without(email, current);
    };
    return this.#change(group, change, withdrawInvitation(email));
  }

  /**
   * Takes the caller out. A group that nobody is left in would be seen by nobody: one that the API made goes with its
   * last member. @throws Conflict when it has repositories, and no other member sees it: those who were invited may
   * never come.
   */
  async leave(group: Group, email: string, hasRepositories: boolean): Promise<void> {
    if (without(email, group).length > 0) {
      await this.remove(group, email, hasRepositories);
      return;
    }
    if (hasRepositories) this.#requireOthers(group, email);
    const { name, uid, resourceVersion, labels } = group.metadata;
    if (labels?.[LABELS.managedBy] === MANAGED_BY)
      await this.#dependencies.cluster.delete(GROUP, { name }, { uid, resourceVersion });
    else await this.#change(group, (current) => without(email, current), withdrawInvitation(email));
  }

  #requireOthers(group: Group, email: string): void {
    if (this.#isSeenByAnother(group, email)) return;
    throw new Conflict('the last member cannot leave a group that has repositories; delete them, or the group');
  }

  #isSeenByAnother(group: Group, email: string): boolean {
    const { users, usersNamespace } = this.#dependencies;
    return group.spec.members.some((member) => {
      const user = userOf(users.get(objectKey(usersNamespace, userName(member))));
      return member !== email && user !== undefined && maySee(user, group);
    });
  }

  async #change(
    group: Group,
    change: (current: Group) => string[],
    annotations: Record<string, string | null>,
  ): Promise<Group> {
    const { cluster, cache } = this.#dependencies;
    const patch = (current: Group) => ({ metadata: { annotations }, spec: { members: change(current) } });
    return (await updateChecked(cluster, cache, GROUP, group, patch)).after;
  }
}

function without(email: string, { spec }: Group): string[] {
  return spec.members.filter((member) => member !== email);
}
