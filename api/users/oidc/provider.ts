import * as client from 'openid-client';
import { Unauthorized, Unavailable } from '../../shared/errors.ts';
import type { LoginSecrets } from './login-states.ts';

export interface OidcConfig {
  /** `https://…` */
  issuer: URL;
  clientId: string;
  /** Absent for a public client, whose code only PKCE protects. */
  clientSecret?: string | undefined;
  /** Where browsers are redirected after login. */
  landingPage: string;
}

/** The provider's claims about a user who logged in. */
export interface Claims {
  issuer: string;
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
}

const timeoutSeconds = 10;

/** Logs in at an OpenID Connect provider: authorization code flow with PKCE, state and nonce. */
export class Provider {
  readonly #config: OidcConfig;
  readonly #redirectUri: string;
  readonly #fetch: client.CustomFetch;
  #discovered: Promise<client.Configuration> | undefined;

  constructor(config: OidcConfig, redirectUri: string, fetch: client.CustomFetch) {
    this.#config = config;
    this.#redirectUri = redirectUri;
    this.#fetch = fetch;
  }

  /** Returns the URL where the browser logs in. @throws Unavailable */
  async authorizationUrl(state: string, { nonce, codeVerifier }: LoginSecrets): Promise<URL> {
    return client.buildAuthorizationUrl(await this.#discover(), {
      redirect_uri: this.#redirectUri,
      response_type: 'code',
      scope: 'openid email',
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
  }

  /**
   * Returns the claims for the provider's redirect.
   * @param query of the callback, including `?`
   * @throws Unauthorized when the provider refused, or its response does not belong to the login; Unavailable
   */
  async claims(query: string, state: string, { nonce, codeVerifier }: LoginSecrets): Promise<Claims> {
    const configuration = await this.#discover();
    try {
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      };
      const tokens = await client.authorizationCodeGrant(configuration, new URL(query, this.#redirectUri), checks);
      const claims = tokens.claims();
      if (!claims)
        throw new Unauthorized(
          'the OpenID Connect provider sent no ID token. Ask an administrator to check the client there',
        );
      // Many providers return the address only at the userinfo endpoint.
      const { email, email_verified } =
        claims['email'] === undefined
          ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : (claims as client.UserInfoResponse);
      return { issuer: claims.iss, subject: claims.sub, email, emailVerified: email_verified === true };
    } catch (error) {
      throw refusal(error);
    }
  }

  /** Reads the provider's configuration once; again after a failure. */
  #discover(): Promise<client.Configuration> {
    this.#discovered ??= discover(this.#config, this.#fetch).catch((error: unknown) => {
      this.#discovered = undefined;
      throw new Unavailable('the OpenID Connect provider cannot be reached. Try again later', { cause: error });
    });
    return this.#discovered;
  }
}

async function discover(
  { issuer, clientId, clientSecret }: OidcConfig,
  fetch: client.CustomFetch,
): Promise<client.Configuration> {
  const authentication = clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
  // Verifies the ID token's signature even though it arrives over TLS.
  const options = { execute: [client.enableNonRepudiationChecks], timeout: timeoutSeconds };
  return client.discovery(issuer, clientId, undefined, authentication, { ...options, [client.customFetch]: fetch });
}

/** Returns the response to a login that failed at the provider. The provider's own message is only logged. */
function refusal(error: unknown): Error {
  if (error instanceof Unauthorized) return error;
  if (error instanceof client.AuthorizationResponseError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? `: ${error.error}` : '';
    return new Unauthorized(
      `the OpenID Connect provider refused the login${code}. Start again, or ask an administrator to check the client there`,
      { cause: error },
    );
  }
  const isUnfit = error instanceof client.ResponseBodyError ? error.status < 500 : isFault(error);
  return isUnfit
    ? new Unauthorized("the provider's response does not belong to this login. Start again", { cause: error })
    : new Unavailable('the OpenID Connect provider cannot be reached. Try again later', { cause: error });
}

/** Returns whether openid-client rejected the response, rather than a timeout or a lost connection. */
function isFault(error: unknown): boolean {
  return error instanceof client.ClientError && error.code !== 'OAUTH_TIMEOUT' && error.code !== 'OAUTH_ABORT';
}
