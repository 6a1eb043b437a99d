import type { CookieOptions, Response } from 'express';
import { HOST_LOGIN_COOKIE, LOGIN_COOKIE } from '../auth/credential.ts';

/** Out of reach of scripts, over TLS alone (browsers count localhost), and not sent along by other sites' pages. */
const options: CookieOptions = { httpOnly: true, secure: true, sameSite: 'lax', path: '/' };

/** A session is 30 days old at most; when it ends earlier the cookie says nothing any more. */
const maxMs = 30 * 24 * 3600 * 1000;

export function setLoginCookie(response: Response, token: string, isHttps: boolean): void {
  for (const name of namesOf(isHttps)) response.cookie(name, token, { ...options, maxAge: maxMs });
}

export function clearLoginCookie(response: Response, isHttps: boolean): void {
  for (const name of namesOf(isHttps)) response.clearCookie(name, options);
}

/** The contract's stays for clients that send it on by its name. */
function namesOf(isHttps: boolean): string[] {
  return isHttps ? [HOST_LOGIN_COOKIE, LOGIN_COOKIE] : [LOGIN_COOKIE];
}
