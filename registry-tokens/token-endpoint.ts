import type { Logger } from 'pino';
import { isSameText } from '../process/same-text.ts';
import { grantedAccess, type Holder } from './access.ts';
import type { CredentialKey } from './credential-keys.ts';
import { readCredential } from './credential.ts';
import type { RequestBudget } from './request-budget.ts';
import { readScopes, type Scope } from './scope.ts';
import type { TokenSigner } from './token-signer.ts';

export type Outcome = 'granted' | 'unmounted' | 'partly' | 'unauthorized' | 'limited' | 'invalid';

export interface TokenEndpointOptions {
  /** Path of the endpoint: `/registry/token`. */
  path: string;
  /** As in the registry's configuration; requests for other services are refused. */
  service: string;
  /** Prefixes of image names that every credential can pull. */
  sharedPrefixes: readonly string[];
  keys: () => readonly CredentialKey[];
  signer: () => TokenSigner;
  /** Returns the account of registry.credentialsSecret, if there is one, which is granted everything. */
  administrator: () => { username: string; password: string } | undefined;
  budget: RequestBudget;
  count: (outcome: Outcome) => void;
  logger: Logger;
  now: () => Date;
}

export interface TokenRequest {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
}

export interface TokenAnswer {
  status: number;
  headers?: Record<string, string>;
  body: object;
}

/** Maximum number of refused scopes in a log line. */
const maxLogged = 5;

/**
 * Responds to token requests (CNCF Distribution, token authentication specification): `GET
 * /registry/token?service=…&scope=…` with Basic authentication. A credential proves itself, so any replica can respond.
 * A token grants the requested scopes that the credential permits; the registry refuses all others.
 */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
  }

  async answer({ method, url, authorization }: TokenRequest): Promise<TokenAnswer> {
    const { path, service, sharedPrefixes, signer, budget, now } = this.#options;
    const asked = parsedUrl(url);
    if (asked?.pathname !== path) return failure(404, 'NOT_FOUND', `no such path. Tokens are at ${path}`);
    // Clients that try the specification's OAuth 2.0 form, a POST, send a GET after this response.
    if (method !== 'GET') return { ...failure(405, 'UNSUPPORTED', 'only GET is supported'), headers: { allow: 'GET' } };
    const askedService = asked.searchParams.get('service');
    const scopes = readScopes(asked.searchParams.getAll('scope'));
    if ((askedService !== null && askedService !== service) || !scopes) {
      return this.#refused(
        'invalid',
        failure(400, 'UNSUPPORTED', `the service must be ${service}, with at most 32 scopes`),
      );
    }
    const holder = this.#holderOf(authorization);
    if (!holder) {
      const headers = { 'www-authenticate': 'Basic realm="coppice"' };
      return this.#refused('unauthorized', {
        ...failure(
          401,
          'UNAUTHORIZED',
          'the credential is not valid, or has expired. The operator renews it: check that it runs',
        ),
        headers,
      });
    }
    const subject = holder === 'administrator' ? holder : holder.claims.uid;
    if (!budget.take(subject, now())) {
      const headers = { 'retry-after': '1' };
      return this.#refused('limited', {
        ...failure(429, 'TOOMANYREQUESTS', 'too many tokens were requested. Try again in a second'),
        headers,
      });
    }
    const access = grantedAccess(holder, scopes, sharedPrefixes);
    this.#report(subject, scopes, access);
    const { token, expiresIn, issuedAt } = await signer().sign(subject, access, now());
    return { status: 200, body: { token, expires_in: expiresIn, issued_at: issuedAt.toISOString() } };
  }

  #holderOf(authorization: string | undefined): Holder | undefined {
    const [, encoded = ''] = /^Basic ([A-Za-z0-9+/]{1,2048}={0,2})$/i.exec(authorization ?? '') ?? [];
    const plain = Buffer.from(encoded, 'base64').toString('utf8');
    const colon = plain.indexOf(':');
    if (colon < 0) return undefined;
    const [username, password] = [plain.slice(0, colon), plain.slice(colon + 1)];
    const claims = readCredential(password, this.#options.keys(), this.#options.now());
    if (claims) return { claims };
    const administrator = this.#options.administrator();
    const isAdministrator =
      administrator !== undefined &&
      isSameText(username, administrator.username) &&
      isSameText(password, administrator.password);
    return isAdministrator ? 'administrator' : undefined;
  }

  #refused(outcome: Outcome, answer: TokenAnswer): TokenAnswer {
    this.#options.count(outcome);
    return answer;
  }

  /** Logs what is not granted. Clients that push layers also request to mount them from other images. */
  #report(subject: string, scopes: readonly Scope[], access: readonly Scope[]): void {
    const { count, logger } = this.#options;
    const granted = new Set(access.map(({ type, name }) => `${type}:${name}`));
    const refused = scopes.filter(({ type, name }) => !granted.has(`${type}:${name}`));
    if (refused.length === 0) {
      count('granted');
      return;
    }
    const isMount =
      access.some(({ actions }) => actions.includes('push')) &&
      refused.every(({ type, actions }) => type === 'repository' && actions.join() === 'pull');
    count(isMount ? 'unmounted' : 'partly');
    const names = refused.slice(0, maxLogged).map(({ type, name, actions }) => `${type}:${name}:${actions.join(',')}`);
    logger[isMount ? 'debug' : 'info'](
      { environmentUid: subject, refused: names },
      'a token was requested for scopes that the credential does not permit',
    );
  }
}

function parsedUrl(url: string | undefined): URL | undefined {
  const base = 'http://localhost';
  return url !== undefined && URL.canParse(url, base) ? new URL(url, base) : undefined;
}

function failure(status: number, code: string, message: string): TokenAnswer {
  return { status, body: { errors: [{ code, message }] } };
}
