import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { PasswordField } from '../components/credential-fields.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { Form, TextField } from '../components/form.tsx';
import { useAction } from '../state/action.ts';
import { reopen } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { continueSession, leaveEnded, session, signIn, type LoginMethods } from '../state/session.ts';

/** A dialog to sign in again, in front of the page, which keeps all input. */
export function SignInAgain(): JSX.Element {
  const known = session.value.kind === 'signed-in' ? session.value.user.email : '';
  const methods = useResource<LoginMethods>('/api/user/login-methods').data.value;
  const password = useSignal('');
  const action = useAction(async () => {
    await signIn(known, password.value);
    reopen();
  });
  const elsewhere = useAction(async () => {
    await continueSession();
    reopen();
  });
  return (
    <Dialog title="Your session has ended" onClose={() => undefined}>
      <p>Sign in again to continue. The page behind this dialog keeps what you entered.</p>
      <Form
        action={action}
        verb="Sign in"
        label="Sign in again"
        more={
          <button type="button" onClick={leaveEnded}>
            Leave the page
          </button>
        }
      >
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          autocomplete="username"
          value={known}
          onInput={() => undefined}
        />
        <PasswordField value={password.value} onInput={(text) => (password.value = text)} hasFocus />
      </Form>
      {methods?.oidc !== undefined && (
        <>
          <p>
            Or{' '}
            <a href={methods.oidc} target="_blank" rel="noopener">
              sign in with OpenID Connect
            </a>{' '}
            in another tab, then{' '}
            <button type="button" class="link-button" disabled={elsewhere.isPending.value} onClick={elsewhere.run}>
              continue here
            </button>
            .
          </p>
          <ErrorNote error={elsewhere.error.value} />
        </>
      )}
    </Dialog>
  );
}
