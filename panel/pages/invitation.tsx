import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../api/client.ts';
import { givenInvitation, groupPage } from '../api/paths.ts';
import { ErrorNote, Skeleton } from '../components/error-note.tsx';
import { InvitationSentence } from '../components/invitation-sentence.tsx';
import { useAction } from '../state/action.ts';
import { useBreadcrumbs } from '../state/breadcrumbs.ts';
import { notify } from '../state/notices.ts';
import { useInvitation } from '../state/invitation.ts';
import { useHash, useTitle } from '../state/page.ts';
import { forgetAll } from '../state/resource.ts';
import { session, signOut } from '../state/session.ts';

/** An invitation that the user who is signed in can accept. */
export default function InvitationPage(): JSX.Element | null {
  const { query, route } = useLocation();
  const invitation = givenInvitation(query, useHash()) ?? '';
  const { found, error } = useInvitation(invitation);
  useTitle('Invitation');
  useBreadcrumbs([{ text: 'Invitation', href: '/invitation' }]);
  const accept = useAction(async () => {
    await send('POST', '/api/user/invitation', { body: { invitation } });
    forgetAll();
    notify('Accepted the invitation.');
    route(found?.group ? groupPage(found.group.id) : '/');
  });
  if (session.value.kind !== 'signed-in') return null;
  const { email } = session.value.user;
  if (!found && !error) return <Skeleton what="the invitation" />;
  const isOther = found?.email !== undefined && found.email !== email;
  return (
    <div class="stack settings">
      <h1>Invitation</h1>
      <ErrorNote error={error} />
      {found && <InvitationSentence invitation={found} own={email} />}
      {isOther ? (
        <>
          <p>
            It is for <b>{found.email}</b>, and you are signed in as <b>{email}</b>. Sign out, then open the link again.
          </p>
          <div>
            <button type="button" onClick={() => void signOut()}>
              Sign out
            </button>
          </div>
        </>
      ) : (
        found && (
          <>
            <ErrorNote error={accept.error.value} />
            <div>
              <button type="button" class="primary" disabled={accept.isPending.value} onClick={accept.run}>
                Accept
              </button>
            </div>
          </>
        )
      )}
    </div>
  );
}
