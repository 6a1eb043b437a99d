import type { Response } from 'express';
import type { User } from '../user-records/user-record.ts';
import type { Access, Reach } from '../user-records/token-scopes.ts';

/** The caller of a request, and how they authenticated. */
export interface Caller {
  user: User;
  /** A login has `administer`: it has all permissions of its user. */
  access: Access;
  /** The groups and repositories that an API token is restricted to; undefined if unrestricted. */
  reach: Reach | undefined;
  /** Name of the API token; undefined for a login, which alone can create tokens and manage accounts. */
  apiToken?: string | undefined;
  credential: Credential;
}

export interface Credential {
  token: string;
  source: 'header' | 'cookie';
}

/** The part of a caller that determines what they see. */
export type Viewer = Pick<Caller, 'user' | 'reach'>;

export function setCaller(response: Response, caller: Caller): void {
  response.locals['caller'] = caller;
}

/** Returns the caller, if the request has been authenticated. */
export function knownCaller(response: Pick<Response, 'locals'>): Caller | undefined {
  return response.locals['caller'] as Caller | undefined;
}

/** Returns the caller. @throws TypeError on a route before authentication, which is a programming error */
export function callerOf(response: Response): Caller {
  const caller = knownCaller(response);
  if (!caller) throw new TypeError('the request was not authenticated');
  return caller;
}
