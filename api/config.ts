import { z } from 'zod';
import type { WebAddress } from './environments/environment-view.ts';
import { integerField } from './http/parse.ts';
import type { RateLimits } from './http/rate-limit.ts';
import type { RegistrationPolicy } from './users/registration-policy.ts';

export interface Config {
  /** Where the REST API listens. */
  port: number;
  /** Where /healthz, /readyz and /metrics do. */
  healthPort: number;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  usersNamespace: string;
  /** This API's own origin, as browsers see it. */
  ownOrigin: string;
  webAddress: WebAddress;
  redis: { url: string; password?: string | undefined };
  registration: RegistrationPolicy;
  limits: RateLimits;
  /** How many proxies stand before the API: so many entries of X-Forwarded-For are believed. */
  trustedProxies: number;
}

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .transform((text) => new URL(text));
const port = integerField(0, 65_535);

const environmentSchema = z
  .object({
    PORT: port.default(3000),
    HEALTH_PORT: port.default(3001),
    LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
    USERS_NAMESPACE: z.string().default('coppice-users'),
    API_URL: httpUrl,
    ENVIRONMENTS_URL: httpUrl,
    REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' }),
    REDIS_PASSWORD: z.string().optional(),
    REGISTRATION: z.enum(['open', 'domains', 'closed']).default('closed'),
    REGISTRATION_DOMAINS: z
      .string()
      .default('')
      .transform((list) =>
        list
          .toLowerCase()
          .split(/[\s,]+/)
          .filter(Boolean),
      ),
    REGISTRATION_PROVES_ADDRESS: z.enum(['true', 'false']).default('false'),
    LOGINS_PER_MINUTE: integerField(1, 1_000_000).default(10),
    REQUESTS_PER_MINUTE: integerField(1, 1_000_000).default(1200),
    TRUSTED_PROXIES: integerField(0, 10).default(0),
  })
  .refine((variables) => variables.REGISTRATION !== 'domains' || variables.REGISTRATION_DOMAINS.length > 0, {
    path: ['REGISTRATION_DOMAINS'],
    error: 'must name a domain when REGISTRATION is domains',
  });

/**
 * The configuration from environment variables; an empty one counts as absent.
 * @throws Error that names each variable that is missing or wrong, and never its value.
 */
export function parseConfig(variables: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const result = environmentSchema.safeParse(given);
  if (!result.success) {
    const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`the environment variables are not valid: ${faults.join('; ')}`);
  }
  const { data } = result;
  return {
    port: data.PORT,
    healthPort: data.HEALTH_PORT,
    logLevel: data.LOG_LEVEL,
    usersNamespace: data.USERS_NAMESPACE,
    ownOrigin: data.API_URL.origin,
    webAddress: webAddressOf(data.ENVIRONMENTS_URL),
    redis: { url: data.REDIS_URL, password: data.REDIS_PASSWORD },
    registration: {
      mode: data.REGISTRATION,
      domains: data.REGISTRATION_DOMAINS,
      provesAddress: data.REGISTRATION_PROVES_ADDRESS === 'true',
    },
    limits: { loginsPerMinute: data.LOGINS_PER_MINUTE, requestsPerMinute: data.REQUESTS_PER_MINUTE },
    trustedProxies: data.TRUSTED_PROXIES,
  };
}

function webAddressOf({ protocol, hostname, port }: URL): WebAddress {
  const scheme = protocol === 'https:' ? 'https' : 'http';
  return { scheme, domain: hostname, ...(port !== '' && { port: Number(port) }) };
}
