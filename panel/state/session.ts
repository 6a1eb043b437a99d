import { signal } from '@preact/signals';
import { onSessionEnd, send } from '../api/client.ts';
import { asRequestError, RequestError, sentenceOf } from '../api/errors.ts';
import type { UserView } from '../api/types.ts';
import { notify } from './notices.ts';
import { forgetAll } from './resource.ts';

export type Session =
  | { kind: 'unknown' }
  | { kind: 'anonymous' }
  | { kind: 'unreachable'; error: RequestError }
  | SignedIn;

export interface SignedIn {
  kind: 'signed-in';
  user: UserView;
}

/** How users can log in, as GET /api/user/login-methods returns it. */
export interface LoginMethods {
  oidc?: string;
  registration: 'open' | 'domains' | 'closed';
}

export const session = signal<Session>({ kind: 'unknown' });
/** Whether the session ended while the page was open: a dialog asks to sign in again, and the page stays. */
export const isEnded = signal(false);

/** Whether the account that is signed in was created on this page. */
export const hasRegistered = signal(false);

let waiting: PromiseWithResolvers<undefined> | undefined;

onSessionEnd(() => {
  // If the page starts without a session, there is no input to lose, so the sign-in page is shown.
  if (session.value.kind !== 'signed-in') return Promise.reject(new RequestError(401, 'you are not signed in'));
  waiting ??= Promise.withResolvers();
  isEnded.value = true;
  return waiting.promise;
});

/** Loads the user who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    const user = await send<UserView>('GET', '/api/user/info', { waitsForSignIn: false });
    session.value = { kind: 'signed-in', user };
  } catch (thrown) {
    const error = asRequestError(thrown);
    session.value = error.isOfSession ? { kind: 'anonymous' } : { kind: 'unreachable', error };
  }
}

/** Signs in with a password. Requests that wait for the sign-in are sent again. @throws RequestError */
export async function signIn(email: string, password: string): Promise<void> {
  await send('POST', '/api/user/login', { body: { email, password, cookie: true }, waitsForSignIn: false });
  await continueSession();
}

/** Continues with the session of a sign-in, here or in another tab. @throws RequestError if there is none */
export async function continueSession(): Promise<void> {
  const user = await send<UserView>('GET', '/api/user/info', { waitsForSignIn: false });
  const before = session.value;
  const isOther = before.kind === 'signed-in' && before.user.email !== user.email;
  if (isOther || before.kind !== 'signed-in') forgetAll();
  session.value = { kind: 'signed-in', user };
  isEnded.value = false;
  // What one account has requested is not repeated as another one.
  if (isOther) waiting?.reject(new RequestError(401, `you are signed in as ${user.email} now. Try again`));
  else waiting?.resolve(undefined);
  waiting = undefined;
}

/** Registers, and signs in. @throws RequestError */
export async function register(email: string, password: string, invitation: string | undefined): Promise<void> {
  const body = { email, password, ...(invitation !== undefined && invitation !== '' && { invitation }) };
  await send('POST', '/api/user/register', { body, waitsForSignIn: false });
  hasRegistered.value = true;
  await signIn(email, password);
}

/** Signs out, and reloads the page so that it keeps no data of the user. A failure is a notice. */
export async function signOut(): Promise<void> {
  try {
    await send('POST', '/api/user/logout', { waitsForSignIn: false });
  } catch (thrown) {
    const error = asRequestError(thrown);
    if (!error.isOfSession) {
      notify(`You are still signed in. ${sentenceOf(error)}`);
      return;
    }
  }
  hasRegistered.value = false;
  location.assign('/sign-in');
}

/** Replaces the page by the sign-in page after a session has ended; unsaved input is lost. */
export function leaveEnded(): void {
  waiting?.reject(new RequestError(401, 'you are not signed in'));
  waiting = undefined;
  isEnded.value = false;
  hasRegistered.value = false;
  session.value = { kind: 'anonymous' };
}

/** Loads the user again, after a change of the account. */
export async function reloadUser(): Promise<void> {
  const user = await send<UserView>('GET', '/api/user/info');
  session.value = { kind: 'signed-in', user };
}
