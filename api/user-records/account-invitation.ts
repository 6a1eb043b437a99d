import { isSameHash, newToken, tokenHash, type RandomBytes } from '../shared/tokens.ts';
import { invitationEnd, type Invitation } from './group-invitation.ts';
import type { AccountInvitation, User } from './user-record.ts';

/** Creates an administrator's invitation to an account. @param now milliseconds since 1970 */
export function newAccountInvitation(now: number, randomBytes: RandomBytes): Invitation & { kept: AccountInvitation } {
  const invitation = `a.${newToken(randomBytes)}`;
  const expiresAt = invitationEnd(now);
  return { invitation, expiresAt, kept: { hash: tokenHash(invitation), expiresAt } };
}

/** Returns whether this is the account's invitation and can be accepted now. */
export function isInvitedTo({ invitation: kept }: User, invitation: string, now: number): boolean {
  return kept !== undefined && now < Date.parse(kept.expiresAt) && isSameHash(kept.hash, tokenHash(invitation));
}
