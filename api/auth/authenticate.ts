import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Forbidden, Unauthenticated, Unauthorized } from '../shared/errors.ts';
import { TOKEN_NOT_VALID } from '../shared/messages.ts';
import { isOwnOrigin } from './origin.ts';
import { noteAccount } from '../shared/request-context.ts';
import type { UserStore } from './user-store.ts';
import { accessOf, apiTokenUser, findApiToken } from '../user-records/api-token.ts';
import type { User } from '../user-records/user-record.ts';
import { reachOf } from './access.ts';
import { setCaller, type Caller, type Credential } from './caller.ts';
import { credentialOf } from './credential.ts';
import type { Session, Sessions } from './sessions.ts';

/** Determines whose token a request has; undefined if it is not valid. The only place that decides this. */
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

  /**
   * Returns whether this replica's cache has the token; another replica may have created or deleted it since. Logins
   * are looked up in Redis.
   */
  isKnown({ token }: Credential): boolean {
    const userName = apiTokenUser(token);
    if (userName === undefined) return true;
    return findApiToken(this.#users.cached(userName)?.apiTokens ?? [], token, this.#now()) !== undefined;
  }

  /**
   * Returns whether a credential that was valid still is, at little cost: API tokens are looked up in this replica's
   * cache, which the watch updates. @throws Unavailable
   */
  async stillValid(credential: Credential): Promise<boolean> {
    const userName = apiTokenUser(credential.token);
    if (userName === undefined) return (await this.#bySession(credential)) !== undefined;
    const user = this.#users.cached(userName);
    return user !== undefined && this.hasToken(user, credential);
  }

  /** Returns whether the user has this API token; true for a login, which is not part of the user's record. */
  hasToken({ apiTokens = [] }: User, { token }: Credential): boolean {
    return apiTokenUser(token) === undefined || findApiToken(apiTokens, token, this.#now()) !== undefined;
  }

  /** Redis is authoritative: ending sessions or an account takes effect there before the response. */
  async #bySession(credential: Credential): Promise<Caller | undefined> {
    const session = await this.#sessions.find(credential.token);
    if (!session) return undefined;
    const user = await this.#userOf(session);
    return user?.accountId === session.accountId
      ? { user, access: 'administer', reach: undefined, credential }
      : undefined;
  }

  /**
   * From the cache if it has the session's own account with a verified address, which does not change. Another replica
   * may have just created or verified any other account.
   */
  async #userOf({ userName, accountId }: Session): Promise<User | undefined> {
    const cached = this.#users.cached(userName);
    return cached?.accountId === accountId && cached.verified ? cached : this.#users.read(userName);
  }

  /** From the API server, not a cache: a token that was deleted at one replica is refused by all others immediately. */
  async #byApiToken(credential: Credential, userName: string): Promise<Caller | undefined> {
    const user = await this.#users.read(userName);
    const token = findApiToken(user?.apiTokens ?? [], credential.token, this.#now());
    if (!user || !token) return undefined;
    const { name: apiToken, scopes } = token;
    return { user, access: accessOf(token), reach: reachOf(scopes), apiToken, credential };
  }
}

/**
 * Returns the e-mail address of the login that a request without obligatory login has. As accepting an invitation does,
 * it takes no API token.
 */
export async function emailOfLogin(
  request: Request,
  authenticator: Pick<Authenticator, 'authenticate'>,
  ownOrigin: string,
): Promise<string | undefined> {
  const credential = credentialOf(request, ownOrigin.startsWith('https:'));
  if (!credential || apiTokenUser(credential.token) !== undefined) return undefined;
  if (credential.source === 'cookie' && !isOwnOrigin(request, ownOrigin)) return undefined;
  return (await authenticator.authenticate(credential))?.user.email;
}

/** Limits of requests with a token. Each counts one request. @throws TooManyRequests */
export interface RequestLimits {
  /** By user, whichever tokens they use. */
  ofUser: (request: Request, response: Response, userName: string) => Promise<void>;
  /**
   * API tokens unknown to this replica, by address: each is looked up at the API server, because another replica may
   * have just created it, and no user is known to count it for.
   */
  ofUnknownToken: (request: Request, response: Response) => Promise<void>;
}

/**
 * Answers 400 without a token and 401 for one that is not valid. Then 403 for a cookie from another origin, and 429.
 * For API tokens, each of which is looked up at the API server, 429 comes first.
 */
export function authenticated(authenticator: Authenticator, ownOrigin: string, limits: RequestLimits): RequestHandler {
  const isHttps = ownOrigin.startsWith('https:');
  return async (request: Request, response: Response, next: NextFunction) => {
    const credential = credentialOf(request, isHttps);
    if (!credential) {
      throw new Unauthenticated(
        'no authentication found. Send a token in the header X-SERVICE-TOKEN or in the cookie "token"; POST /api/user/login returns one',
      );
    }
    const isKnown = authenticator.isKnown(credential);
    if (!isKnown) await limits.ofUnknownToken(request, response);
    const owner = isKnown ? apiTokenUser(credential.token) : undefined;
    if (owner !== undefined) await limits.ofUser(request, response, owner);
    const caller = await authenticator.authenticate(credential);
    if (!caller) throw new Unauthorized(TOKEN_NOT_VALID);
    if (credential.source === 'cookie' && !isOwnOrigin(request, ownOrigin)) {
      throw new Forbidden(
        `cookies are accepted from pages of ${ownOrigin} only. Send the token in the header X-SERVICE-TOKEN`,
      );
    }
    if (owner === undefined) await limits.ofUser(request, response, caller.user.name);
    setCaller(response, caller);
    noteAccount(caller.user.accountId);
    next();
  };
}
