import type { Response } from 'express';
import type { User } from '../users/user-record.ts';

/** Who makes a request, and how that is known. */
export interface Caller {
  user: User;
  /** An API token made so; it may read, and nothing else. */
  readOnly: boolean;
  credential: Credential;
}

export interface Credential {
  token: string;
  source: 'header' | 'cookie';
}

export function setCaller(response: Response, caller: Caller): void {
  response.locals['caller'] = caller;
}

/** @throws TypeError on a route that stands before authentication: a mistake of ours. */
export function callerOf(response: Response): Caller {
  const caller = response.locals['caller'] as Caller | undefined;
  if (!caller) throw new TypeError('the request was not authenticated');
  return caller;
}
