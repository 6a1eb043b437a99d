import { RequestError, type Detail } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Called when a request finds no session; resolves when the user has signed in again, and rejects otherwise. */
type SignInAgain = () => Promise<unknown>;

let signInAgain: SignInAgain | undefined;

/** Sets the handler for an ended session. Requests that find no session wait for the sign-in, and are then repeated. */
export function onSessionEnd(ask: SignInAgain): void {
  signInAgain = ask;
}

export interface RequestOptions {
  body?: unknown;
  signal?: AbortSignal;
  /** Whether to wait for the user to sign in again; defaults to true. */
  waitsForSignIn?: boolean;
}

/**
 * Sends a request to the REST API with the session's cookie.
 * @returns the answer, of the type that the endpoint declares
 * @throws RequestError
 */
export async function send<Answer>(method: Method, path: string, options: RequestOptions = {}): Promise<Answer> {
  try {
    return await sendOnce<Answer>(method, path, options);
  } catch (error) {
    const isEnded = error instanceof RequestError && error.isOfSession && options.waitsForSignIn !== false;
    if (!isEnded || !signInAgain) throw error;
    await signInAgain();
    return sendOnce<Answer>(method, path, options);
  }
}

async function sendOnce<Answer>(method: Method, path: string, { body, signal }: RequestOptions): Promise<Answer> {
  const response = await answerOf(method, path, body, signal);
  if (!response.ok) throw await refusalOf(response);
  // Not validated: the server that sends it defines and verifies its type (api/http/endpoint.ts).
  return (await response.json()) as Answer;
}

async function answerOf(method: Method, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = { method, credentials: 'same-origin', headers: { Accept: 'application/json' } };
  if (body !== undefined) Object.assign(init, { body: JSON.stringify(body) });
  if (signal) Object.assign(init, { signal });
  try {
    return await fetch(path, init);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new RequestError(0, 'the server did not answer', [], undefined, error);
  }
}

async function refusalOf(response: Response): Promise<RequestError> {
  const text = await response.text();
  const { error, details } = parsedRefusal(text);
  const retryAfter = Number(response.headers.get('Retry-After') ?? NaN);
  const message = error ?? `the server answered ${response.status}`;
  return new RequestError(response.status, message, details ?? [], Number.isNaN(retryAfter) ? undefined : retryAfter);
}

/** Parses an error of the API; returns an empty object for anything else, such as the page of a proxy. */
function parsedRefusal(text: string): { error?: string; details?: Detail[] } {
  try {
    return JSON.parse(text) as { error?: string; details?: Detail[] };
  } catch {
    return {};
  }
}
