import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../api/client.ts';
import { invitationIn, invitationPage } from '../api/paths.ts';
import { Confirm } from '../components/confirm.tsx';
import { PasswordField } from '../components/credential-fields.tsx';
import { Form, TextField } from '../components/form.tsx';
import { useAction } from '../state/action.ts';
import { useBreadcrumbs } from '../state/breadcrumbs.ts';
import { notify } from '../state/notices.ts';
import { useQuery, useTitle } from '../state/page.ts';
import { session } from '../state/session.ts';
import { ApiTokens } from './account/api-tokens.tsx';
import { Sessions } from './account/sessions.tsx';

/** The user's own logins, API tokens, invitations and password. */
export default function AccountPage(): JSX.Element | null {
  useTitle('Account');
  useBreadcrumbs([{ text: 'Account', href: '/account' }]);
  if (session.value.kind !== 'signed-in') return null;
  const { user } = session.value;
  return (
    <div class="stack settings">
      <div>
        <h1>Account</h1>
        <p class="muted">{user.email}</p>
      </div>
      <Sessions />
      <ApiTokens tokens={user.apiTokens} />
      <AcceptInvitation />
      <ChangePassword email={user.email} />
      <DeleteAccount email={user.email} />
    </div>
  );
}

function ChangePassword({ email }: { email: string }): JSX.Element {
  const currentPassword = useSignal('');
  const newPassword = useSignal('');
  const action = useAction(async () => {
    await send('POST', '/api/user/password', {
      body: { currentPassword: currentPassword.value, newPassword: newPassword.value },
    });
    currentPassword.value = '';
    newPassword.value = '';
    notify('Changed the password. Other logins have ended.');
  });
  return (
    <section class="stack-small">
      <h2>Password</h2>
      <Form action={action} verb="Change the password" label="Password">
        <input type="email" autocomplete="username" value={email} readOnly hidden />
        <PasswordField
          label="Current password"
          name="currentPassword"
          value={currentPassword.value}
          onInput={(text) => (currentPassword.value = text)}
        />
        <PasswordField
          label="New password"
          name="newPassword"
          isNew
          value={newPassword.value}
          onInput={(text) => (newPassword.value = text)}
          hint="10 to 200 characters. Your other logins end; API tokens stay valid."
        />
      </Form>
    </section>
  );
}

function AcceptInvitation(): JSX.Element {
  const invitation = useSignal('');
  const { route } = useLocation();
  const action = useAction(() => {
    route(invitationPage(invitationIn(invitation.value)));
    return Promise.resolve();
  });
  return (
    <section class="stack-small">
      <h2>Invitation</h2>
      <Form action={action} verb="Open" label="Invitation">
        <TextField
          label="Link of an invitation"
          name="invitation"
          value={invitation.value}
          onInput={(text) => (invitation.value = text)}
          hint="Shows who invites you to what, before you accept."
          isMonospace
          isRequired
        />
      </Form>
    </section>
  );
}

function DeleteAccount({ email }: { email: string }): JSX.Element {
  const { query, setQuery } = useQuery();
  const password = useSignal('');
  return (
    <section class="stack-small">
      <h2>Delete the account</h2>
      <div>
        <button type="button" class="danger" onClick={() => setQuery({ dialog: 'delete-account' })}>
          Delete the account
        </button>
      </div>
      {query['dialog'] === 'delete-account' && (
        <Confirm
          title="Delete the account"
          verb="Delete the account"
          act={async () => {
            const body = password.value === '' ? {} : { password: password.value };
            await send('DELETE', '/api/user', { body });
            location.assign('/sign-in');
          }}
          onClose={() => setQuery({ dialog: undefined })}
        >
          <p>
            Deletes the account <b>{email}</b> with its logins, API tokens and memberships. Groups without members are
            deleted.
          </p>
          <PasswordField
            isRequired={false}
            value={password.value}
            onInput={(text) => (password.value = text)}
            hint="Empty if you sign in with OpenID Connect alone."
          />
        </Confirm>
      )}
    </section>
  );
}
