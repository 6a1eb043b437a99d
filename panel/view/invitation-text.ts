import type { InvitationView } from '../api/types.ts';

/** Returns who invites, as the start of a sentence. Only the invited person gets more than that it is a member. */
export function inviterText({ email, invitedBy }: Pick<InvitationView, 'email' | 'invitedBy'>, own?: string): string {
  if (invitedBy !== undefined) return invitedBy;
  return email !== undefined && email === own ? 'A member (address not verified)' : 'A member';
}
