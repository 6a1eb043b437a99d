import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Forbidden, Unauthenticated, Unauthorized } from '../http/errors.ts';
import { isOwnOrigin } from '../http/origin.ts';
import type { UserStore } from '../users/user-store.ts';
import { setCaller, type Caller, type Credential } from './caller.ts';
import { credentialOf } from './credential.ts';
import type { Sessions } from './sessions.ts';

/** Whose token it is; undefined when it is nobody's. The only place where that is decided. */
export class Authenticator {
  readonly #sessions: Pick<Sessions, 'find'>;
  readonly #users: Pick<UserStore, 'find'>;

  constructor(sessions: Pick<Sessions, 'find'>, users: Pick<UserStore, 'find'>) {
    this.#sessions = sessions;
    this.#users = users;
  }

  async authenticate(credential: Credential): Promise<Caller | undefined> {
    const session = await this.#sessions.find(credential.token);
    if (!session) return undefined;
    const user = await this.#users.find(session.userName);
    return user?.accountId === session.accountId ? { user, readOnly: false, credential } : undefined;
  }
}

/** Contract section 7: 400 without a token, 401 with one that is not valid. Then: 403 for a cookie from elsewhere. */
export function authenticated(authenticator: Authenticator, ownOrigin: string): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction) => {
    const credential = credentialOf(request);
    if (!credential) throw new Unauthenticated('no authentication: send a token in X-SERVICE-TOKEN');
    const caller = await authenticator.authenticate(credential);
    if (!caller) throw new Unauthorized('the token is not valid, or no longer');
    if (credential.source === 'cookie' && !isOwnOrigin(request, ownOrigin)) {
      throw new Forbidden(`a cookie is taken from pages of ${ownOrigin} only`);
    }
    setCaller(response, caller);
    next();
  };
}
