import type { JSX } from 'preact';
import type { InvitationView } from '../api/types.ts';
import { inviterText } from '../view/invitation-text.ts';
import { visibleText } from '../view/visible-text.ts';

/**
 * Who invites to what. Members choose the name of their group, so it is quoted in an element of its own, beside the id.
 * @param own address of whoever is signed in
 */
export function InvitationSentence({ invitation, own }: { invitation: InvitationView; own?: string }): JSX.Element {
  const { group } = invitation;
  if (!group) {
    return <p>This link is for an invitation from an administrator; it is checked when you accept.</p>;
  }
  return (
    <p>
      {inviterText(invitation, own)} invites you to the group <b>{group.id}</b>
      {group.name !== group.id && (
        <>
          {' '}
          <q class="muted">
            <bdi>{visibleText(group.name)}</bdi>
          </q>
        </>
      )}
      .
    </p>
  );
}
