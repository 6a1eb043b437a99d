import * as client from 'openid-client';
import { Unauthorized, Unavailable } from '../../http/errors.ts';
import type { LoginSecrets } from './login-states.ts';

export interface OidcConfig {
  /** `https://…` */
  issuer: URL;
  clientId: string;
  /** Without one the client is a public one, and PKCE alone protects the code. */
  clientSecret?: string | undefined;
  /** Where browsers go after they are logged in. */
  landingPage: string;
}

/** What the provider says of who logged in. */
export interface Claims {
  issuer: string;
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
}

const timeoutSeconds = 10;

/** An OpenID Connect provider: the authorization code flow with PKCE, state and nonce. */
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

  /** Where the browser logs in. @throws Unavailable */
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
   * Who logged in, by what the provider sent the browser back with.
   * @param query of the callback, with its `?`
   * @throws Unauthorized when the provider refused, or its answer does not fit the login; Unavailable
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
      if (!claims) throw new Unauthorized('the provider sent no ID token');
      // Many providers tell the address at the userinfo endpoint alone.
      const { email, email_verified } =
        claims['email'] === undefined
          ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : (claims as client.UserInfoResponse);
      return { issuer: claims.iss, subject: claims.sub, email, emailVerified: email_verified === true };
    } catch (error) {
      throw refusal(error);
    }
  }

  /** Once; again when it failed. */
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
  // The ID token's signature is checked although it comes over TLS.
  const options = { execute: [client.enableNonRepudiationChecks], timeout: timeoutSeconds };
  return client.discovery(issuer, clientId, undefined, authentication, { ...options, [client.customFetch]: fetch });
}

/** What a login that failed at the provider is answered with; what the provider said goes to the log alone. */
function refusal(error: unknown): Error {
  if (error instanceof Unauthorized) return error;
  if (error instanceof client.AuthorizationResponseError) {
    const code = /^[a-z_]{1,40}$/.test(error.error) ? `: ${error.error}` : '';
    return new Unauthorized(`the provider did not log you in${code}`, { cause: error });
  }
  const isUnfit = error instanceof client.ResponseBodyError ? error.status < 500 : isFault(error);
  return isUnfit
    ? new Unauthorized("the provider's response does not belong to this login. Start again", { cause: error })
    : new Unavailable('the OpenID Connect provider cannot be reached. Try again later', { cause: error });
}

/** openid-client found the answer wrong, and not late or broken off. */
function isFault(error: unknown): boolean {
  return error instanceof client.ClientError && error.code !== 'OAUTH_TIMEOUT' && error.code !== 'OAUTH_ABORT';
}
