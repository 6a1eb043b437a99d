import type { IncomingMessage } from 'node:http';
import type { Credential } from './caller.ts';

const header = 'x-service-token';
export const LOGIN_COOKIE = 'token';

/** Contract section 5: the header, when there, is the only thing looked at; otherwise the cookie. */
export function credentialOf(request: Pick<IncomingMessage, 'headers'>): Credential | undefined {
  const fromHeader = request.headers[header];
  if (fromHeader !== undefined) return { token: String(fromHeader), source: 'header' };
  const token = cookieValue(request.headers.cookie, LOGIN_COOKIE);
  return token === undefined ? undefined : { token, source: 'cookie' };
}

/** The first cookie of this name (RFC 6265 section 5.4 sends the most specific first). Tokens need no decoding. */
export function cookieValue(cookies: string | undefined, name: string): string | undefined {
  for (const pair of cookies?.split(';') ?? []) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}
