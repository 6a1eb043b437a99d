import type { InvitationView } from '../api/types.ts';
import { visibleText } from './visible-text.ts';

/** Returns who invites to what: `mira@example.com invites you to the group Beech Team.` */
export function invitationText({ group, invitedBy }: Pick<InvitationView, 'group' | 'invitedBy'>): string {
  const to = group ? `the group ${visibleText(group.name)}` : 'Coppice';
  return `${invitedBy ?? (group ? 'A member' : 'An administrator')} invites you to ${to}.`;
}
