import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';

export const OIDC_ISSUER = 'https://login.example';
export const OIDC_CLIENT = { clientId: 'coppice', clientSecret: 'the secret of this client, long enough' };

/** Claims of a person, by subject; a test can change them. */
export interface Person {
  email?: string;
  email_verified?: boolean;
}

/**
 * A real OpenID Connect provider (oidc-provider) on a loopback address; `fetch` redirects requests for its issuer
 * there.
 */
export class OidcProvider {
  readonly people = new Map<string, Person>();
  readonly #server;
  /** The subject who logs in next; undefined if they refuse. */
  subject: string | undefined;

  constructor(redirectUri: string) {
    const provider = new Provider(OIDC_ISSUER, this.#configuration(redirectUri));
    provider.proxy = true;
    const handle = provider.callback();
    this.#server = createServer((request, response) => {
      // The header that a TLS-terminating proxy sets.
      request.headers['x-forwarded-proto'] = 'https';
      request.headers['host'] = new URL(OIDC_ISSUER).host;
      if (request.url?.startsWith('/interaction/')) void this.#interact(provider, request, response);
      else void handle(request, response);
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  readonly fetch = (url: string | URL, options: RequestInit = {}): Promise<Response> => {
    const { port } = this.#server.address() as AddressInfo;
    const { pathname, search } = new URL(url);
    return fetch(`http://127.0.0.1:${port}${pathname}${search}`, options);
  };

  /** Logs in as a browser does. @returns the URL to which the provider redirects, with its query */
  async visit(authorizationUrl: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = new URL(authorizationUrl);
    while (url.origin === OIDC_ISSUER) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await this.fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const line of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
        cookies.set(name, value);
      }
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
      url = new URL(location, url);
    }
    return url;
  }

  async #interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const result = this.subject === undefined ? { error: 'access_denied' } : { login: { accountId: this.subject } };
    await provider.interactionFinished(request, response, result);
  }

  #configuration(redirectUri: string): Configuration {
    return {
      clients: [
        { client_id: OIDC_CLIENT.clientId, client_secret: OIDC_CLIENT.clientSecret, redirect_uris: [redirectUri] },
      ],
      cookies: { keys: ['a key of this test'] },
      jwks: { keys: [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })] },
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, subject) => ({
        accountId: subject,
        claims: () => ({ sub: subject, ...this.people.get(subject) }),
      }),
      // Grants whatever the client requests consent for.
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client?.clientId ?? '',
          accountId: oidc.session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
    };
  }
}
