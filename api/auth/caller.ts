import type { Response } from 'express';
import { Forbidden } from '../http/errors.ts';
import type { User } from '../users/user-record.ts';

/** Who makes a request, and how that is known. */
export interface Caller {
  user: User;
  /** An API token made so; it may read, and nothing else. */
  readOnly: boolean;
  /** The name of the API token; undefined for a login, which alone may make tokens and manage accounts. */
  apiToken?: string | undefined;
  credential: Credential;
}

export interface Credential {
  token: string;
  source: 'header' | 'cookie';
}

export function setCaller(response: Response, caller: Caller): void {
  response.locals['caller'] = caller;
}

/** What lasts longer than a token must not be had by one: new tokens, accounts, passwords. @throws Forbidden */
export function requireLogin({ apiToken }: Caller): void {
  if (apiToken !== undefined) throw new Forbidden('an API token may not do this: log in');
}

/** Who makes the request, where that has been found out. */
export function knownCaller(response: Pick<Response, 'locals'>): Caller | undefined {
  return response.locals['caller'] as Caller | undefined;
}

/** @throws TypeError on a route that stands before authentication: a mistake of ours. */
export function callerOf(response: Response): Caller {
  const caller = knownCaller(response);
  if (!caller) throw new TypeError('the request was not authenticated');
  return caller;
}
