import type { IncomingMessage } from 'node:http';
import { Unauthorized } from '../shared/errors.ts';
import type { Credential } from './caller.ts';

const header = 'x-service-token';
export const LOGIN_COOKIE = 'token';
/** Browsers accept it only over https, and let no other host set it, not even one below a common parent domain. */
export const HOST_LOGIN_COOKIE = '__Host-token';

/**
 * Returns the token of the header if there is one, otherwise that of the cookie. Over https, the cookie that no other
 * host can set takes precedence over the cookie `token`.
 * @throws Unauthorized if it is ambiguous which of two cookies is the caller's.
 */
export function credentialOf(request: Pick<IncomingMessage, 'headers'>, isHttps: boolean): Credential | undefined {
  const fromHeader = request.headers[header];
  if (fromHeader !== undefined) return { token: String(fromHeader), source: 'header' };
  const { cookie } = request.headers;
  const token = (isHttps ? onlyCookie(cookie, HOST_LOGIN_COOKIE) : undefined) ?? onlyCookie(cookie, LOGIN_COOKIE);
  return token === undefined ? undefined : { token, source: 'cookie' };
}

/**
 * Returns the cookie of this name. Tokens need no decoding. If there are two, a page of another host has set one for a
 * parent domain or a longer path, and can choose which comes first. @throws Unauthorized
 */
export function onlyCookie(cookies: string | undefined, name: string): string | undefined {
  const values = (cookies?.split(';') ?? []).flatMap((pair) => {
    const [key = '', ...value] = pair.split('=');
    return key.trim() === name ? [value.join('=').trim()] : [];
  });
  if (values.length > 1) {
    throw new Unauthorized(`two cookies are called ${name}. Delete the cookies of this site and of its parent domains`);
  }
  return values[0];
}
