import type { CookieOptions, Response } from 'express';
import { HOST_LOGIN_COOKIE, LOGIN_COOKIE } from '../auth/credential.ts';

/**
 * Scripts cannot read the cookie, browsers send it only over TLS (or to localhost), and not with requests of other
 * sites' pages.
 */
const options: CookieOptions = { httpOnly: true, secure: true, sameSite: 'lax', path: '/' };

/** A session lasts 30 days at most; a cookie of a session that has ended has no effect. */
const maxMs = 30 * 24 * 3600 * 1000;

export function setLoginCookie(response: Response, token: string, isHttps: boolean): void {
  for (const name of namesOf(isHttps)) response.cookie(name, token, { ...options, maxAge: maxMs });
}

export function clearLoginCookie(response: Response, isHttps: boolean): void {
  for (const name of namesOf(isHttps)) response.clearCookie(name, options);
}

/**
 * Returns the names of the login cookies. The contract's name remains for clients that send the cookie by that name.
 */
function namesOf(isHttps: boolean): string[] {
  return isHttps ? [HOST_LOGIN_COOKIE, LOGIN_COOKIE] : [LOGIN_COOKIE];
}
