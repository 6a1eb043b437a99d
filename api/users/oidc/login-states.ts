import { z } from 'zod';
import { newToken, tokenHash, type RandomBytes } from '../../shared/tokens.ts';
import { orUnavailable } from '../../shared/errors.ts';

/** Maximum time for a login at the provider. */
export const LOGIN_MS = 10 * 60 * 1000;

/** The Redis commands that logins at a provider need. */
export interface LoginRedis {
  set(key: string, value: string, options: { expiration: { type: 'PX'; value: number } }): Promise<unknown>;
  getDel(key: string): Promise<string | null>;
}

/** Secrets that validate the provider's redirect (RFC 7636, OpenID Connect Core 3.1.2.1). */
const secretsSchema = z.object({ nonce: z.string(), codeVerifier: z.string(), browserHash: z.string() });
export type LoginSecrets = Pick<z.infer<typeof secretsSchema>, 'nonce' | 'codeVerifier'>;

/** Stores started logins. Each can be completed once, within 10 minutes, by the browser that started it. */
export class LoginStates {
  readonly #redis: LoginRedis;
  readonly #randomBytes: RandomBytes;

  constructor(redis: LoginRedis, randomBytes: RandomBytes) {
    this.#redis = redis;
    this.#randomBytes = randomBytes;
  }

  /** Starts a login. @returns `state` for the provider, and `browser`, which only the browser stores */
  async start(): Promise<{ state: string; browser: string; secrets: LoginSecrets }> {
    const [state, browser, nonce, codeVerifier] = [1, 2, 3, 4].map(() => newToken(this.#randomBytes)) as [
      string,
      string,
      string,
      string,
    ];
    const value = JSON.stringify({ nonce, codeVerifier, browserHash: tokenHash(browser) });
    await reach(this.#redis.set(keyOf(state), value, { expiration: { type: 'PX', value: LOGIN_MS } }));
    return { state, browser, secrets: { nonce, codeVerifier } };
  }

  /**
   * Ends the login, even if another browser requests it.
   * @returns its secrets; undefined when there is no such login, or another browser started it
   */
  async take(state: string, browser: string): Promise<LoginSecrets | undefined> {
    const value = await reach(this.#redis.getDel(keyOf(state)));
    if (value === null) return undefined;
    const { browserHash, ...secrets } = secretsSchema.parse(JSON.parse(value));
    return browserHash === tokenHash(browser) ? secrets : undefined;
  }
}

function keyOf(state: string): string {
  return `coppice:oidc-login:${tokenHash(state)}`;
}

function reach<T>(command: Promise<T>): Promise<T> {
  return orUnavailable(
    command,
    'logins cannot be started or completed, because Redis does not respond. Try again later',
  );
}
