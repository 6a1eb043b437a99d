import { creatorOf, type Group } from '../../crds/group.ts';
import { Conflict, Forbidden, NotFound } from '../shared/errors.ts';

export const ROLES = ['owner', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** Facts about a member's address. */
export interface Accounts {
  /** Returns the random ID of the address's account; undefined without one. */
  accountIdOf: (email: string) => string | undefined;
  /** Returns whether the address has an account that sees the group. */
  isSeenBy: (group: Group, email: string) => boolean;
}

/** Members and owners of a group, as set by a patch of its spec. */
export interface Membership {
  members: string[];
  owners: string[];
}

/**
 * Returns the members that own a group. If its spec names no member as owner, the account that created it does; if that
 * is not a member either, every member does. A group with members always has an owner.
 */
export function ownersOf(group: Group, { accountIdOf }: Pick<Accounts, 'accountIdOf'>): string[] {
  const { spec } = group;
  const named = (spec.owners ?? []).filter((email) => spec.members.includes(email));
  if (named.length > 0) return named;
  const creator = creatorOf(group);
  const made = creator === undefined ? [] : spec.members.filter((email) => accountIdOf(email) === creator);
  return made.length > 0 ? made : [...spec.members];
}

const noSuchMember = 'the group has no such member. GET /api/group/{groupID}/settings lists the members';

/**
 * Checks that the caller owns the group. The functions below decide who can change members and roles; the `delete`
 * endpoint in groups/routes.ts lets only owners delete the group.
 * @throws Forbidden
 */
export function requireOwner(group: Group, actor: string, what: string, accounts: Accounts): void {
  if (ownersOf(group, accounts).includes(actor)) return;
  throw new Forbidden(`only an owner of the group can ${what}. Ask one of them`);
}

/**
 * Adds a member. Unless requested, this does not change the owners: the current ones are named explicitly from now on.
 * @throws Forbidden, Conflict
 */
export function withMember(group: Group, actor: string, email: string, role: Role, accounts: Accounts): Membership {
  const { members } = group.spec;
  if (members.includes(email)) throw new Conflict('the group already has this member. PATCH changes the role');
  if (role === 'owner') requireOwner(group, actor, 'add an owner', accounts);
  const owners = ownersOf(group, accounts);
  return { members: [...members, email], owners: role === 'owner' ? [...owners, email] : owners };
}

/**
 * Returns the membership without a member.
 * @throws NotFound; Forbidden if a member removes an owner; Conflict if no owner would remain
 */
export function withoutMember(group: Group, actor: string, email: string, accounts: Accounts): Membership {
  const { members } = group.spec;
  if (!members.includes(email)) throw new NotFound(noSuchMember);
  const owners = ownersOf(group, accounts);
  if (owners.includes(email)) {
    if (actor !== email) requireOwner(group, actor, 'remove an owner', accounts);
    if (members.length > 1) requireAnotherOwner(group, email, owners, accounts);
  }
  return { members: except(members, email), owners: except(owners, email) };
}

/**
 * Returns the membership with a member's new role.
 * @throws NotFound; Forbidden for callers who are not owners; Conflict if no owner would remain
 */
export function withRole(group: Group, actor: string, email: string, role: Role, accounts: Accounts): Membership {
  const { members } = group.spec;
  if (!members.includes(email)) throw new NotFound(noSuchMember);
  requireOwner(group, actor, 'change roles', accounts);
  const owners = ownersOf(group, accounts);
  if (role === 'owner') return { members: [...members], owners: [...new Set([...owners, email])] };
  if (owners.includes(email)) requireAnotherOwner(group, email, owners, accounts);
  return { members: [...members], owners: except(owners, email) };
}

/**
 * Returns whether another owner sees the group. Invited owners who have not registered do not count: they cannot manage
 * the group.
 */
export function hasAnotherOwner(
  group: Group,
  email: string,
  owners: readonly string[],
  { isSeenBy }: Pick<Accounts, 'isSeenBy'>,
): boolean {
  return owners.some((owner) => owner !== email && isSeenBy(group, owner));
}

function requireAnotherOwner(group: Group, email: string, owners: readonly string[], accounts: Accounts): void {
  if (hasAnotherOwner(group, email, owners, accounts)) return;
  throw new Conflict(
    'the group would have no owner who sees it. First make another member an owner ' +
      `(PATCH /api/group/${group.metadata.name}/members/EMAIL {"role": "owner"}), or delete the group`,
  );
}

function except(emails: readonly string[], email: string): string[] {
  return emails.filter((one) => one !== email);
}
