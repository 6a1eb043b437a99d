import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Forbidden, Unauthenticated, Unauthorized } from '../http/errors.ts';
import { isOwnOrigin } from '../http/origin.ts';
import type { RequestLimits } from '../http/rate-limit.ts';
import { noteAccount } from '../http/request-context.ts';
import type { UserStore } from '../users/user-store.ts';
import { accessOf, apiTokenUser, findApiToken } from '../users/api-token.ts';
import type { User } from '../users/user-record.ts';
import { reachOf } from './access.ts';
import { setCaller, type Caller, type Credential } from './caller.ts';
import { credentialOf } from './credential.ts';
import type { Session, Sessions } from './sessions.ts';

/** Whose token it is; undefined when it is nobody's. The only place where that is decided. */
export class Authenticator {
  readonly #sessions: Pick<Sessions, 'find'>;
  readonly #users: Pick<UserStore, 'cached' | 'read'>;
  readonly #now: () => number;

  constructor(sessions: Pick<Sessions, 'find'>, users: Pick<UserStore, 'cached' | 'read'>, now: () => number) {
    this.#sessions = sessions;
    this.#users = users;
    this.#now = now;
  }

  async authenticate(credential: Credential): Promise<Caller | undefined> {
    const userName = apiTokenUser(credential.token);
    return userName === undefined ? this.#bySession(credential) : this.#byApiToken(credential, userName);
  }

  /** Whether this replica's cache has the token, which another one may have made or deleted since. Redis knows logins. */
  isKnown({ token }: Credential): boolean {
    const userName = apiTokenUser(token);
    if (userName === undefined) return true;
    return findApiToken(this.#users.cached(userName)?.apiTokens ?? [], token, this.#now()) !== undefined;
  }

  /** What Redis holds counts: who ends sessions, or an account, ends them there before it is answered. */
  async #bySession(credential: Credential): Promise<Caller | undefined> {
    const session = await this.#sessions.find(credential.token);
    if (!session) return undefined;
    const user = await this.#userOf(session);
    return user?.accountId === session.accountId
      ? { user, access: 'administer', reach: undefined, credential }
      : undefined;
  }

  /**
   * From the cache where it holds the session's own account with a proven address, which stays so. Another replica may
   * have made or proven any other a moment ago.
   */
  async #userOf({ userName, accountId }: Session): Promise<User | undefined> {
    const cached = this.#users.cached(userName);
    return cached?.accountId === accountId && cached.verified ? cached : this.#users.read(userName);
  }

  /** From the API server and no cache: a token that was deleted at one replica is refused by all others at once. */
  async #byApiToken(credential: Credential, userName: string): Promise<Caller | undefined> {
    const user = await this.#users.read(userName);
    const token = findApiToken(user?.apiTokens ?? [], credential.token, this.#now());
    if (!user || !token) return undefined;
    const { name: apiToken, scopes } = token;
    return { user, access: accessOf(token), reach: reachOf(scopes), apiToken, credential };
  }
}

/**
 * Contract section 7: 400 without a token, 401 with one that is not valid. Then: 403 for a cookie from elsewhere, 429.
 * With an API token, each of which has the API server asked, 429 comes before that.
 */
export function authenticated(authenticator: Authenticator, ownOrigin: string, limits: RequestLimits): RequestHandler {
  const isHttps = ownOrigin.startsWith('https:');
  return async (request: Request, response: Response, next: NextFunction) => {
    const credential = credentialOf(request, isHttps);
    if (!credential) {
      throw new Unauthenticated(
        'no authentication found: send a token in the header X-SERVICE-TOKEN or the cookie token; POST /api/user/login gives one',
      );
    }
    const isKnown = authenticator.isKnown(credential);
    if (!isKnown) await limits.ofUnknownToken(request, response);
    const owner = isKnown ? apiTokenUser(credential.token) : undefined;
    if (owner !== undefined) await limits.ofUser(request, response, owner);
    const caller = await authenticator.authenticate(credential);
    if (!caller) throw new Unauthorized('the token is not valid, or no longer');
    if (credential.source === 'cookie' && !isOwnOrigin(request, ownOrigin)) {
      throw new Forbidden(`a cookie is taken from pages of ${ownOrigin} only`);
    }
    if (owner === undefined) await limits.ofUser(request, response, caller.user.name);
    setCaller(response, caller);
    noteAccount(caller.user.accountId);
    next();
  };
}
