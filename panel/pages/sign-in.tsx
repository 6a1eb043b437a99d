import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { givenInvitation, invitationIn, invitationPage, localReturn, registerPage, signInPage } from '../api/paths.ts';
import { EmailField, PasswordField } from '../components/credential-fields.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { Form, TextField } from '../components/form.tsx';
import { Logo } from '../components/icons.tsx';
import { InvitationSentence } from '../components/invitation-sentence.tsx';
import { useAction } from '../state/action.ts';
import { useHash, useTitle } from '../state/page.ts';
import { useInvitation } from '../state/invitation.ts';
import { useResource } from '../state/resource.ts';
import { keepReturn } from '../state/return-path.ts';
import { register, signIn, type LoginMethods } from '../state/session.ts';

/** Sign in with a password or at the OpenID Connect provider, or register. */
export function SignInPage({ isRegistration }: { isRegistration: boolean }): JSX.Element {
  const { query } = useLocation();
  const methods = useResource<LoginMethods>('/api/user/login-methods').data.value;
  useTitle(isRegistration ? 'Register' : 'Sign in');
  const invitation = givenInvitation(query, useHash());
  const back = query['return'];
  const search = back === undefined ? '' : `?return=${encodeURIComponent(back)}`;
  const [signInHref, registerHref] =
    invitation === undefined
      ? [`/sign-in${search}`, `/register${search}`]
      : [signInPage(invitation), registerPage(invitation)];
  return (
    <main class="sign-in">
      <p class="sign-in-brand">
        <Logo /> Coppice
      </p>
      <div class="card">
        <div class="card-body stack-small">
          <h1>{isRegistration ? 'Register' : 'Sign in'}</h1>
          {isRegistration ? <Registration methods={methods} /> : <Password />}
          {!isRegistration && methods?.oidc !== undefined && (
            <a
              class="button"
              href={methods.oidc}
              target="_self"
              onClick={() => keepReturn(invitation === undefined ? localReturn(back) : invitationPage(invitation))}
            >
              Sign in with OpenID Connect
            </a>
          )}
        </div>
      </div>
      {isRegistration ? (
        <p>
          You have an account? <a href={signInHref}>Sign in</a>
        </p>
      ) : (
        <p>
          No account, or an invitation? <a href={registerHref}>Register</a>
        </p>
      )}
    </main>
  );
}

function Password(): JSX.Element {
  const email = useSignal('');
  const password = useSignal('');
  const action = useAction(() => signIn(email.value, password.value));
  return (
    <Form action={action} verb="Sign in" label="Sign in">
      <EmailField value={email.value} onInput={(text) => (email.value = text)} hasFocus />
      <PasswordField value={password.value} onInput={(text) => (password.value = text)} />
    </Form>
  );
}

const policies = {
  open: 'An invitation is optional.',
  domains: 'Without an invitation, only addresses of certain domains can register.',
  closed: 'Registration needs an invitation from an administrator.',
} as const;

function Registration({ methods }: { methods: LoginMethods | undefined }): JSX.Element {
  const { query } = useLocation();
  const email = useSignal('');
  const password = useSignal('');
  const given = givenInvitation(query, useHash());
  const invitation = useSignal(given ?? '');
  useEffect(() => {
    invitation.value = given ?? '';
  }, [given]);
  const { found, error } = useInvitation(given ?? '');
  const action = useAction(() => register(email.value, password.value, invitationIn(invitation.value)));
  return (
    <Form action={action} verb={found ? 'Register and accept' : 'Register'} label="Register">
      {found && <InvitationSentence invitation={found} />}
      {found?.email !== undefined && (
        <p>
          Register with the invited address, <b>{found.email}</b>.
        </p>
      )}
      <ErrorNote error={error} />
      <EmailField value={email.value} onInput={(text) => (email.value = text)} hasFocus />
      <PasswordField
        isNew
        value={password.value}
        onInput={(text) => (password.value = text)}
        hint="10 to 200 characters."
      />
      {found?.kind !== 'group' && (
        <TextField
          label="Link of an invitation"
          name="invitation"
          value={invitation.value}
          onInput={(text) => (invitation.value = text)}
          hint={methods && policies[methods.registration]}
          isMonospace
        />
      )}
    </Form>
  );
}
