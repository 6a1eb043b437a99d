import { z } from 'zod';
import { API_GROUP } from '../../crds/api-group.ts';
import type { Group } from '../../crds/group.ts';
import { isResourceName } from '../../crds/ids.ts';
import { isSameHash, newToken, tokenHash, type RandomBytes } from '../shared/tokens.ts';
import { userName, type User } from './user-record.ts';

/** Validity of an invitation. */
const invitationMs = 7 * 24 * 3600 * 1000;

const openRecordSchema = z.object({
  hash: z.string(),
  expiresAt: z.iso.datetime(),
  by: z.string().optional(),
  byAccount: z.string().optional(),
});
type OpenRecord = z.infer<typeof openRecordSchema>;

/** Value of a Group's annotation for one member: an open invitation, or the account that accepted it. */
const recordSchema = z.union([openRecordSchema, z.object({ account: z.string().min(1) })]);

export interface Invitation {
  /** Shown once; only its hash is stored. */
  invitation: string;
  /** RFC 3339. */
  expiresAt: string;
}

/** Returns when an invitation created now expires. */
export function invitationEnd(now: number): string {
  return new Date(now + invitationMs).toISOString();
}

/**
 * Returns the Group's annotation for an address. It contains a hash, because addresses can have characters that
 * annotation names cannot.
 */
function annotationFor(email: string): string {
  return `invitations.${API_GROUP}/${userName(email)}`;
}

/**
 * Invites a member. An account of this address that accepts sees this group, but no other group that names the address:
 * the member who adds them sees the invitation, so it does not verify the address.
 * @param email in lower case
 * @param by the member who invites
 * @param now milliseconds since 1970
 * @returns the invitation, and the annotations to set with the patch that adds the member
 */
export function inviteToGroup(
  { metadata }: Pick<Group, 'metadata'>,
  email: string,
  by: Pick<User, 'email' | 'accountId'>,
  now: number,
  randomBytes: RandomBytes,
): Invitation & { annotations: Record<string, string> } {
  const invitation = `g.${metadata.name}.${newToken(randomBytes)}`;
  const expiresAt = invitationEnd(now);
  const record = JSON.stringify({ hash: tokenHash(invitation), expiresAt, by: by.email, byAccount: by.accountId });
  return { invitation, expiresAt, annotations: { [annotationFor(email)]: record } };
}

/** Returns the annotations to set with the patch that removes a member: it ends their invitation, accepted or not. */
export function withdrawInvitation(email: string): Record<string, null> {
  return { [annotationFor(email)]: null };
}

/** Returns the name of the Group that an invitation is for; undefined for other texts. */
export function invitingGroup(invitation: string): string | undefined {
  const name = /^g\.([a-z0-9-]+)\.[A-Za-z0-9_-]{43}$/.exec(invitation)?.[1];
  return name !== undefined && isResourceName(name) ? name : undefined;
}

/** Returns whether the member with this address can accept the invitation now. */
export function isInvited(group: Group, email: string, invitation: string, now: number): boolean {
  return openRecord(group, email, tokenHash(invitation), now) !== undefined;
}

function openRecord(group: Group, email: string, hash: string, now: number): OpenRecord | undefined {
  const record = recordOf(group, email);
  if (!record || !('hash' in record) || !group.spec.members.includes(email)) return undefined;
  return isSameHash(record.hash, hash) && now < Date.parse(record.expiresAt) ? record : undefined;
}

/** An invitation that can be accepted. */
export interface OpenInvitation {
  email: string;
  /** The account that invites; unknown for an invitation that an earlier version wrote. */
  by: Pick<User, 'email' | 'accountId'> | undefined;
  expiresAt: string;
}

/** Returns the member whom the text invites, and by whom; undefined if it invites nobody now. */
export function openInvitation(group: Group, invitation: string, now: number): OpenInvitation | undefined {
  const hash = tokenHash(invitation);
  for (const email of group.spec.members) {
    const record = openRecord(group, email, hash, now);
    if (!record) continue;
    const { by, byAccount, expiresAt } = record;
    const isKnown = by !== undefined && byAccount !== undefined;
    return { email, by: isKnown ? { email: by, accountId: byAccount } : undefined, expiresAt };
  }
  return undefined;
}

/** Returns when an invitation that the member has not accepted ends or has ended; undefined if there is none. */
export function invitedUntil(group: Group, email: string): string | undefined {
  const record = recordOf(group, email);
  return record && 'hash' in record ? record.expiresAt : undefined;
}

/** Returns the annotations that accept an invitation, so that it cannot be used again. */
export function acceptance(user: Pick<User, 'email' | 'accountId'>): Record<string, string> {
  return { [annotationFor(user.email)]: JSON.stringify({ account: user.accountId }) };
}

/** Returns whether this account, not another one of its address, accepted an invitation to the group. */
export function hasAccepted(group: Group, user: Pick<User, 'email' | 'accountId'>): boolean {
  const record = recordOf(group, user.email);
  return record !== undefined && 'account' in record && record.account === user.accountId;
}

function recordOf({ metadata }: Group, email: string): z.infer<typeof recordSchema> | undefined {
  const text = metadata.annotations?.[annotationFor(email)];
  if (text === undefined) return undefined;
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Not written by the API: it invites nobody.
    return undefined;
  }
}
