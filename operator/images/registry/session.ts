import { z } from 'zod';
import type { HttpAnswer, Send } from '../../source/network/send.ts';

export interface RegistryCredentials {
  username: string;
  password: string;
}

/**
 * How a session logs in: with an account, read for each request because it can be replaced, or with tokens that it
 * signs without a token server.
 */
export type RegistryLogin =
  | { credentials: () => RegistryCredentials | undefined }
  | { token: (scope: string) => Promise<string> };

export interface SessionOptions {
  /** `https://registry.example.com`, without `/v2`. */
  origin: string;
  login: RegistryLogin;
  send: Send;
}

export interface RegistryRequest {
  method: 'GET' | 'HEAD' | 'DELETE';
  /** The part after `/v2/`. */
  path: string;
  /** What the token must permit (Distribution's token specification), such as `repository:acme/shop/web:pull`. */
  scope: string;
  accept?: string;
}

const tokenSchema = z.object({
  token: z.string().optional(),
  access_token: z.string().optional(),
  expires_in: z.number().default(60),
});
/** Tokens are renewed this long before they expire, so that none expires in transit. In milliseconds. */
const marginMs = 10_000;
/**
 * Maximum number of characters of a token service's response: any host can be one, and parsing uses a multiple of that
 * in memory.
 */
const maxAnswer = 64 * 1024;

/**
 * Sends requests to one registry as one account (OCI Distribution Specification 1.1), with Basic authentication or
 * tokens, as the registry requires.
 */
export class RegistrySession {
  readonly #options: SessionOptions;
  readonly #tokens = new Map<string, { token: string; endsAt: number }>();

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  async request({ method, path, scope, accept = '*/*' }: RegistryRequest): Promise<HttpAnswer> {
    const url = new URL(`/v2/${path}`, this.#options.origin);
    const { login } = this.#options;
    const send = (authorization: string | undefined) =>
      this.#send(method, url, { accept, ...(authorization !== undefined && { authorization }) });
    if ('token' in login) return send(`Bearer ${await login.token(scope)}`);
    const known = this.#tokens.get(scope);
    const token = known && known.endsAt > Date.now() ? known.token : undefined;
    const answer = await send(token === undefined ? this.#basic() : `Bearer ${token}`);
    const challenge = answer.headers['www-authenticate'];
    if (answer.status !== 401 || challenge === undefined || !/^bearer /i.test(challenge)) return answer;
    return send(`Bearer ${await this.#token(challenge, scope)}`);
  }

  async #token(challenge: string, scope: string): Promise<string> {
    // Any host can be a registry: `\b` keeps the time linear in the header's length.
    const parameters = new Map([...challenge.matchAll(/\b(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]));
    const realm = parameters.get('realm');
    if (realm === undefined || !URL.canParse(realm)) {
      throw new Error(
        "the registry's 401 response has no valid token URL (realm). Check auth.token.realm in its configuration",
      );
    }
    const url = new URL(realm);
    url.searchParams.set('service', parameters.get('service') ?? '');
    url.searchParams.set('scope', scope);
    const basic = this.#basic();
    const answer = await this.#send('GET', url, basic === undefined ? {} : { authorization: basic });
    if (answer.status !== 200) throw new Error(`the registry's token service responded with ${answer.status}`);
    if (answer.body.length > maxAnswer) throw new Error("the registry's token service returned too much");
    const { token, access_token: accessToken, expires_in: seconds } = tokenSchema.parse(JSON.parse(answer.body));
    const given = token ?? accessToken;
    if (given === undefined) throw new Error("the registry's token service returned no token");
    this.#forgetExpired();
    this.#tokens.set(scope, { token: given, endsAt: Date.now() + seconds * 1000 - marginMs });
    return given;
  }

  /** Each image repository is a scope of its own. */
  #forgetExpired(): void {
    for (const [scope, { endsAt }] of this.#tokens) if (endsAt <= Date.now()) this.#tokens.delete(scope);
  }

  #basic(): string | undefined {
    const { login } = this.#options;
    const credentials = 'credentials' in login ? login.credentials() : undefined;
    if (!credentials) return undefined;
    return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
  }

  async #send(method: RegistryRequest['method'], url: URL, headers: Record<string, string>): Promise<HttpAnswer> {
    try {
      return await this.#options.send({ method, url, headers });
    } catch (error) {
      throw new Error(`the registry ${new URL(this.#options.origin).host} did not respond`, { cause: error });
    }
  }
}
