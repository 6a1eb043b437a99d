import { z } from 'zod';
import { API_GROUP } from '../../crds/api-group.ts';
import type { Group } from '../../crds/group.ts';
import { isResourceName } from '../../crds/ids.ts';
import { isSameHash, newToken, tokenHash, type RandomBytes } from '../auth/tokens.ts';
import { userName, type User } from './user-record.ts';

/** How long an invitation can be accepted. */
const invitationMs = 7 * 24 * 3600 * 1000;

/** What a Group's annotation says of one member: invited and not yet come, or the account that accepted. */
const recordSchema = z.union([
  z.object({ hash: z.string(), expiresAt: z.iso.datetime() }),
  z.object({ account: z.string().min(1) }),
]);

export interface Invitation {
  /** Shown once; only its hash is kept. */
  invitation: string;
  /** RFC 3339. */
  expiresAt: string;
}

/** When an invitation that is made now ends. */
export function invitationEnd(now: number): string {
  return new Date(now + invitationMs).toISOString();
}

/** The annotation of a Group for one address: its hash, since an address may hold what no annotation's name may. */
function annotationFor(email: string): string {
  return `invitations.${API_GROUP}/${userName(email)}`;
}

/**
 * Invites a member: whoever accepts it with an account of this address sees this group, and no other one that names
 * the address: the invitation is shown to the member who adds them, and proves nothing to other groups.
 * @param email in lower case @param now milliseconds since 1970
 * @returns the invitation, and the annotations that the patch of the Group which adds the member must set.
 */
export function inviteToGroup(
  { metadata }: Pick<Group, 'metadata'>,
  email: string,
  now: number,
  randomBytes: RandomBytes,
): Invitation & { annotations: Record<string, string> } {
  const invitation = `g.${metadata.name}.${newToken(randomBytes)}`;
  const expiresAt = invitationEnd(now);
  const record = JSON.stringify({ hash: tokenHash(invitation), expiresAt });
  return { invitation, expiresAt, annotations: { [annotationFor(email)]: record } };
}

/** The annotations that the patch which removes a member must set: their invitation, accepted or not, ends. */
export function withdrawInvitation(email: string): Record<string, null> {
  return { [annotationFor(email)]: null };
}

/** The name of the Group that an invitation is to; undefined for what is none. */
export function invitingGroup(invitation: string): string | undefined {
  const name = /^g\.([a-z0-9-]+)\.[A-Za-z0-9_-]{43}$/.exec(invitation)?.[1];
  return name !== undefined && isResourceName(name) ? name : undefined;
}

/** Whether a group's member of this address can accept the invitation now. */
export function isInvited(group: Group, email: string, invitation: string, now: number): boolean {
  const record = recordOf(group, email);
  if (!record || !('hash' in record) || !group.spec.members.includes(email)) return false;
  return isSameHash(record.hash, tokenHash(invitation)) && now < Date.parse(record.expiresAt);
}

/** The annotations that accept an invitation: it cannot be accepted again. */
export function acceptance(user: Pick<User, 'email' | 'accountId'>): Record<string, string> {
  return { [annotationFor(user.email)]: JSON.stringify({ account: user.accountId }) };
}

/** Whether this very account accepted an invitation to the group. */
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
    // Not ours: somebody wrote it manually. It invites nobody.
    return undefined;
  }
}
