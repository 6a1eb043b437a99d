import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { grantedAccess, type Holder } from './access.ts';
import type { CredentialKey } from './credential-keys.ts';
import { readCredential } from './credential.ts';
import type { RequestBudget } from './request-budget.ts';
import { readScopes, type Scope } from './scope.ts';
import type { TokenSigner } from './token-signer.ts';

export type Outcome = 'granted' | 'partly' | 'unauthorized' | 'limited' | 'invalid';

export interface TokenEndpointOptions {
  /** Where tokens are asked for: `/registry/token`. */
  path: string;
  /** As in the registry's configuration; requests for another service are refused. */
  service: string;
  /** What the names of images start with that every credential can pull. */
  sharedPrefixes: readonly string[];
  keys: () => readonly CredentialKey[];
  signer: () => TokenSigner;
  /** The account of registry.credentialsSecret, where there is one: it gets whatever it asks for. */
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

/** Of what a client asked for in vain, in the log. */
const maxLogged = 5;

/**
 * Answers token requests (CNCF Distribution, token authentication specification): `GET /registry/token?service=…&scope=…`
 * with Basic authentication. Any replica answers any request, since a credential carries its own proof. A token grants what
 * the credential allows of the requested scopes; the registry refuses the rest.
 */
export class TokenEndpoint {
  readonly #options: TokenEndpointOptions;

  constructor(options: TokenEndpointOptions) {
    this.#options = options;
  }

  async answer({ method, url, authorization }: TokenRequest): Promise<TokenAnswer> {
    const { path, service, sharedPrefixes, signer, budget, now } = this.#options;
    const asked = parsedUrl(url);
    if (asked?.pathname !== path) return failure(404, 'NOT_FOUND', `tokens are at ${path}`);
    // Clients that try the OAuth 2.0 form of the specification, a POST, come again with GET after this answer.
    if (method !== 'GET') return { ...failure(405, 'UNSUPPORTED', 'only GET is supported'), headers: { allow: 'GET' } };
    const askedService = asked.searchParams.get('service');
    const scopes = readScopes(asked.searchParams.getAll('scope'));
    if ((askedService !== null && askedService !== service) || !scopes) {
      return this.#refused(
        'invalid',
        failure(400, 'UNSUPPORTED', `tokens are for the service ${service}, and 32 scopes at most`),
      );
    }
    const holder = this.#holderOf(authorization);
    if (!holder) {
      const headers = { 'www-authenticate': 'Basic realm="coppice"' };
      return this.#refused('unauthorized', {
        ...failure(401, 'UNAUTHORIZED', 'the credential is not valid, or has expired'),
        headers,
      });
    }
    const subject = holder === 'administrator' ? holder : holder.claims.uid;
    if (!budget.take(subject, now())) {
      const headers = { 'retry-after': '1' };
      return this.#refused('limited', {
        ...failure(429, 'TOOMANYREQUESTS', 'too many tokens were requested'),
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
      isSame(username, administrator.username) &&
      isSame(password, administrator.password);
    return isAdministrator ? 'administrator' : undefined;
  }

  #refused(outcome: Outcome, answer: TokenAnswer): TokenAnswer {
    this.#options.count(outcome);
    return answer;
  }

  /** A scope that is not granted is logged: builds and nodes ask for nothing else in good faith, but for mounts of layers. */
  #report(subject: string, scopes: readonly Scope[], access: readonly Scope[]): void {
    const { count, logger } = this.#options;
    const granted = new Set(access.map(({ type, name }) => `${type}:${name}`));
    const refused = scopes.filter(({ type, name }) => !granted.has(`${type}:${name}`));
    count(refused.length === 0 ? 'granted' : 'partly');
    if (refused.length === 0) return;
    const names = refused.slice(0, maxLogged).map(({ type, name, actions }) => `${type}:${name}:${actions.join(',')}`);
    logger.info(
      { environmentUid: subject, refused: names },
      'a token was requested for what the credential does not reach',
    );
  }
}

/** Compares in a time that does not depend on where the texts differ. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function parsedUrl(url: string | undefined): URL | undefined {
  const base = 'http://localhost';
  return url !== undefined && URL.canParse(url, base) ? new URL(url, base) : undefined;
}

function failure(status: number, code: string, message: string): TokenAnswer {
  return { status, body: { errors: [{ code, message }] } };
}
