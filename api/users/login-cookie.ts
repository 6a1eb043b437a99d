import type { CookieOptions, Response } from 'express';
import { LOGIN_COOKIE } from '../auth/credential.ts';

/** Out of reach of scripts, over TLS alone (browsers count localhost), and not sent along by other sites' pages. */
const options: CookieOptions = { httpOnly: true, secure: true, sameSite: 'lax', path: '/' };

/** A session is 30 days old at most; when it ends earlier the cookie says nothing any more. */
const longestMs = 30 * 24 * 3600 * 1000;

export function setLoginCookie(response: Response, token: string): void {
  response.cookie(LOGIN_COOKIE, token, { ...options, maxAge: longestMs });
}

export function clearLoginCookie(response: Response): void {
  response.clearCookie(LOGIN_COOKIE, options);
}
