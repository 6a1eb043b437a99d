import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send } from '../api/client.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { Form, TextField } from '../components/form.tsx';
import { useAction } from '../state/action.ts';
import { useTitle } from '../state/page.ts';
import { session } from '../state/session.ts';

/** Approves the sign-in of the command line on this computer, and returns to it. */
export default function CommandLinePage(): JSX.Element | null {
  useTitle('Sign in the command line');
  const { port, challenge, state } = useLocation().query;
  const action = useAction(async () => {
    const { redirect } = await send<{ redirect: string }>('POST', '/api/user/authorizations', {
      body: { port, challenge, state },
    });
    location.assign(redirect);
  });
  if (session.value.kind !== 'signed-in') return null;
  return (
    <div class="stack settings">
      <h1>Sign in the command line</h1>
      <p>
        A program on this computer asks to act as <strong>{session.value.user.email}</strong>, with everything that you
        can do. Continue only if you have just started <code>coppice login</code> here.
      </p>
      <ErrorNote error={action.error.value} />
      <div class="buttons">
        <a class="button" href="/">
          Cancel
        </a>
        <button type="button" class="primary" disabled={action.isPending.value} onClick={() => action.run()}>
          Sign in
        </button>
      </div>
    </div>
  );
}

interface Waiting {
  address: string;
  startedAt: number;
  isOwnAddress: boolean;
}

/** Approves the sign-in of a device by the code that it shows. The code is typed: no link can contain it. */
export function DevicePage(): JSX.Element | null {
  useTitle('Sign in a device');
  const code = useSignal('');
  const waiting = useSignal<Waiting | undefined>(undefined);
  const decided = useSignal('');
  const check = useAction(async () => {
    waiting.value = await send<Waiting>('POST', '/api/user/device/check', { body: { userCode: code.value } });
  });
  const decide = (approve: boolean) => async () => {
    await send('POST', '/api/user/device/decision', { body: { userCode: code.value, approve } });
    decided.value = approve ? 'The device is signed in. Return to it.' : 'The device is not signed in.';
  };
  const [approve, deny] = [useAction(decide(true)), useAction(decide(false))];
  if (session.value.kind !== 'signed-in') return null;
  if (decided.value !== '') return <p role="status">{decided.value}</p>;
  return (
    <div class="stack settings">
      <h1>Sign in a device</h1>
      {waiting.value === undefined ? (
        <Form action={check} verb="Continue" label="Sign in a device">
          <p>Enter the code only if your own terminal shows it. Whoever sent you a code wants to act as you.</p>
          <TextField
            label="Code"
            name="userCode"
            value={code.value}
            onInput={(text) => (code.value = text)}
            isMonospace
            isRequired
            hasFocus
          />
        </Form>
      ) : (
        <>
          <p>
            A device at the network address <strong>{waiting.value.address}</strong>
            {waiting.value.isOwnAddress ? ', which is also yours,' : ', which is not yours,'} asks to act as{' '}
            <strong>{session.value.user.email}</strong>, with everything that you can do.
          </p>
          <ErrorNote error={approve.error.value ?? deny.error.value} />
          <div class="buttons">
            <button type="button" onClick={() => deny.run()}>
              Deny
            </button>
            <button type="button" class="primary" disabled={approve.isPending.value} onClick={() => approve.run()}>
              Sign in
            </button>
          </div>
        </>
      )}
    </div>
  );
}
