import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { send } from '../api/client.ts';
import { RequestError } from '../api/errors.ts';
import type { EnvironmentVisit } from '../api/types.ts';
import { PasswordField } from '../components/credential-fields.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { Form } from '../components/form.tsx';
import { Logo } from '../components/icons.tsx';
import { useAction } from '../state/action.ts';
import { useTitle } from '../state/page.ts';

/** Returns a visitor to the environment that sent them here. The API checks everything in the address. */
function useReturn(path: string, more: () => object = () => ({})) {
  const { host, path: to, challenge } = useLocation().query;
  return useAction(async () => {
    const body = { host, path: to, challenge, ...more() };
    // A wrong password is answered as an ended session is.
    const { redirect } = await send<EnvironmentVisit>('POST', path, { body, waitsForSignIn: false }).catch(
      (error: unknown) => {
        // The visitor has not written the address of this page, whose parts the API names.
        if (!(error instanceof RequestError) || error.status !== 422) throw error;
        throw new RequestError(422, 'this link is not complete. Open the address of the environment again');
      },
    );
    location.assign(redirect);
  });
}

/** For members, who continue without a question: they get nothing that they did not have. */
export default function EnvironmentAccessPage(): JSX.Element {
  useTitle('Open an environment');
  const { host = '', mode } = useLocation().query;
  const action = useReturn('/api/access/login');
  useEffect(() => action.run(), []);
  return (
    <div class="stack settings">
      <h1>Open an environment</h1>
      {action.error.value === undefined && (
        <p role="status">
          Opening <strong class="isolate">{host}</strong>…
        </p>
      )}
      <ErrorNote error={action.error.value} />
      {action.error.value !== undefined && mode === 'password' && <Password />}
    </div>
  );
}

/** For visitors without a login. */
export function PasswordPage(): JSX.Element {
  useTitle('Open an environment');
  const { url, query } = useLocation();
  return (
    <main class="sign-in">
      <p class="sign-in-brand">
        <Logo /> Coppice
      </p>
      <div class="card">
        <div class="card-body stack-small">
          <h1>Open an environment</h1>
          <p>
            <strong class="isolate">{query['host']}</strong> asks for a password.
          </p>
          <Password />
        </div>
      </div>
      <p>
        You are a member of its group? <a href={`/sign-in?return=${encodeURIComponent(url)}`}>Sign in</a>
      </p>
    </main>
  );
}

function Password(): JSX.Element {
  const password = useSignal('');
  const action = useReturn('/api/access/password', () => ({ password: password.value }));
  return (
    <Form action={action} verb="Open" label="Password of the environment">
      <PasswordField value={password.value} onInput={(text) => (password.value = text)} hasFocus />
    </Form>
  );
}
