import type { Response } from 'express';
import type { User } from '../users/user-record.ts';
import type { Access, Reach } from './access.ts';

/** Who makes a request, and how that is known. */
export interface Caller {
  user: User;
  /** A login has `administer`: it may do what its user may. */
  access: Access;
  /** Which groups and repositories of the user's an API token is restricted to; undefined: none. */
  reach: Reach | undefined;
  /** The name of the API token; undefined for a login, which alone may make tokens and manage accounts. */
  apiToken?: string | undefined;
  credential: Credential;
}

export interface Credential {
  token: string;
  source: 'header' | 'cookie';
}

/** As far as it decides what can be seen. */
export type Viewer = Pick<Caller, 'user' | 'reach'>;

export function setCaller(response: Response, caller: Caller): void {
  response.locals['caller'] = caller;
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
