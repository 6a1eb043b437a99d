import type { Group } from '../../crds/group.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { Conflict, Forbidden, NotFound } from '../http/errors.ts';

export const ROLES = ['owner', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** What is asked about a member's address. */
export interface Accounts {
  /** The random id of the account that the address has; undefined without one. */
  accountIdOf: (email: string) => string | undefined;
  /** Whether somebody has an account of the address that sees the group. */
  isSeenBy: (group: Group, email: string) => boolean;
}

/** Who is in a group: what a patch of its spec sets. */
export interface Membership {
  members: string[];
  owners: string[];
}

/**
 * The members that own a group. Where its spec names none that is a member, as in Groups of before there were roles, the
 * account that made it does, and where that is no member either, every member: no group with members has no owner.
 */
export function ownersOf({ metadata, spec }: Group, { accountIdOf }: Pick<Accounts, 'accountIdOf'>): string[] {
  const named = (spec.owners ?? []).filter((email) => spec.members.includes(email));
  if (named.length > 0) return named;
  const creator = metadata.annotations?.[ANNOTATIONS.createdBy];
  const made = creator === undefined ? [] : spec.members.filter((email) => accountIdOf(email) === creator);
  return made.length > 0 ? made : [...spec.members];
}

/** @throws Forbidden for who is not an owner. */
export function requireOwner(group: Group, actor: string, what: string, accounts: Accounts): void {
  if (ownersOf(group, accounts).includes(actor)) return;
  throw new Forbidden(`only an owner of the group may ${what}: ask one of them`);
}

/**
 * A new member changes who owns the group only where that is asked for: the owners so far are named from now on, so that
 * the new one is not one of them because nobody was named. @throws Forbidden, Conflict
 */
export function withMember(group: Group, actor: string, email: string, role: Role, accounts: Accounts): Membership {
  const { members } = group.spec;
  if (members.includes(email)) throw new Conflict('the group has this member already');
  if (role === 'owner') requireOwner(group, actor, 'add an owner', accounts);
  const owners = ownersOf(group, accounts);
  return { members: [...members, email], owners: role === 'owner' ? [...owners, email] : owners };
}

/** @throws NotFound, Forbidden where a member removes an owner, Conflict where no owner would be left. */
export function withoutMember(group: Group, actor: string, email: string, accounts: Accounts): Membership {
  const { members } = group.spec;
  if (!members.includes(email)) throw new NotFound('no such member');
  const owners = ownersOf(group, accounts);
  if (owners.includes(email)) {
    if (actor !== email) requireOwner(group, actor, 'remove an owner', accounts);
    if (members.length > 1) requireAnotherOwner(group, email, owners, accounts);
  }
  return { members: except(members, email), owners: except(owners, email) };
}

/** @throws NotFound, Forbidden for who is not an owner, Conflict where no owner would be left. */
export function withRole(group: Group, actor: string, email: string, role: Role, accounts: Accounts): Membership {
  const { members } = group.spec;
  if (!members.includes(email)) throw new NotFound('no such member');
  requireOwner(group, actor, 'change roles', accounts);
  const owners = ownersOf(group, accounts);
  if (role === 'owner') return { members: [...members], owners: [...new Set([...owners, email])] };
  if (owners.includes(email)) requireAnotherOwner(group, email, owners, accounts);
  return { members: [...members], owners: except(owners, email) };
}

/** An owner who was invited and has not come can hand the group on to nobody: they do not count. */
function requireAnotherOwner(group: Group, email: string, owners: readonly string[], { isSeenBy }: Accounts): void {
  if (owners.some((owner) => owner !== email && isSeenBy(group, owner))) return;
  throw new Conflict(
    'the group would have no owner who sees it: make another member an owner first ' +
      `(PATCH /api/group/${group.metadata.name}/members/EMAIL {"role": "owner"}), or delete the group`,
  );
}

function except(emails: readonly string[], email: string): string[] {
  return emails.filter((one) => one !== email);
}
