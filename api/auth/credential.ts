import type { IncomingMessage } from 'node:http';
import { Unauthorized } from '../http/errors.ts';
import type { Credential } from './caller.ts';

const header = 'x-service-token';
export const LOGIN_COOKIE = 'token';
/** Browsers let no other host set it, not even one below a common parent domain; they take it over https alone. */
export const HOST_LOGIN_COOKIE = '__Host-token';

/**
 * Contract section 5: the header, when there, is the only thing looked at; otherwise the cookie. Over https the cookie that
 * no other host can have set comes before the contract's.
 * @throws Unauthorized where it cannot be told which of two cookies is the caller's.
 */
export function credentialOf(request: Pick<IncomingMessage, 'headers'>, isHttps: boolean): Credential | undefined {
  const fromHeader = request.headers[header];
  if (fromHeader !== undefined) return { token: String(fromHeader), source: 'header' };
  const { cookie } = request.headers;
  const token = (isHttps ? onlyCookie(cookie, HOST_LOGIN_COOKIE) : undefined) ?? onlyCookie(cookie, LOGIN_COOKIE);
  return token === undefined ? undefined : { token, source: 'cookie' };
}

/**
 * The cookie of this name. Tokens need no decoding. Of two, one was set by a page of another host, for a parent domain or a
 * longer path: which comes first is that page's choice. @throws Unauthorized
 */
export function onlyCookie(cookies: string | undefined, name: string): string | undefined {
  const values = (cookies?.split(';') ?? []).flatMap((pair) => {
    const [key = '', ...value] = pair.split('=');
    return key.trim() === name ? [value.join('=').trim()] : [];
  });
  if (values.length > 1) {
    throw new Unauthorized(`two cookies are called ${name}: delete the cookies of this site and its parent domains`);
  }
  return values[0];
}
