import { z } from 'zod';
import { DEFAULT_ACCESS_MODES, type AccessMode } from '../crds/access.ts';
import { metricsTokenField } from '../process/metrics-token.ts';
import { readVariables } from '../process/variables.ts';
import type { WebAddress } from './environments/environment-view.ts';
import { emailField, integerField } from './http/parse.ts';
import type { RateLimits } from './limits/rate-limit.ts';
import type { Budgets } from './limits/budgets.ts';
import type { ShellSettings } from './shell/admission.ts';
import type { FirstAdministrator } from './users/first-administrator.ts';
import type { RegistrationPolicy } from './users/registration-policy.ts';
import type { TesterAddress } from '../tester-client/client.ts';
import type { OwnVariableSettings } from './shared/own-variable-settings.ts';
import type { OidcConfig } from './users/oidc/provider.ts';
import { boundedPassword } from './users/user-parameters.ts';

export interface Config {
  /** Port of the REST API. */
  port: number;
  /** Port of /healthz, /readyz and /metrics. */
  healthPort: number;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  usersNamespace: string;
  /** Origin of this API, as browsers see it. */
  ownOrigin: string;
  webAddress: WebAddress;
  /** Port that the Ingress controller asks about requests to environments with restricted access. */
  accessPort: number;
  /** Folder with the keys of access tokens, which the operator creates. */
  accessKeysFolder: string;
  /** Who can open environments whose Repository does not say. */
  defaultAccess: AccessMode;
  ownVariables: OwnVariableSettings;
  redis: { url: string; password?: string | undefined };
  registration: RegistrationPolicy;
  /** Addresses of administrators, in lower case. */
  administrators: string[];
  /** The account of the first administrator, created if it is missing. */
  firstAdministrator?: FirstAdministrator;
  /** Login through OpenID Connect, in addition to passwords. */
  oidc?: OidcConfig;
  /** Maximum number of environments with contents in groups that set no limit. */
  maxEnvironmentsPerGroup: number;
  /** The tester that holds results of tests. */
  tester: TesterAddress;
  limits: RateLimits;
  budgets: Budgets;
  /** Shells and forwarded ports. */
  shell: ShellSettings;
  /** Number of proxies in front of the API: as many entries of X-Forwarded-For are trusted. */
  trustedProxies: number;
  /** Networks of the first proxy; empty trusts every client that connects. */
  trustedProxyCidrs: string[];
  /** Token that /metrics requires, if any. */
  metricsToken?: string | undefined;
}

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .transform((text) => new URL(text));
/** Parses a list of addresses or domains in lower case. */
const lowerCaseList = z
  .string()
  .default('')
  .transform((list) =>
    list
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  );
const port = integerField(0, 65_535);
const mebibyte = 1024 * 1024;

const environmentSchema = z
  .object({
    PORT: port.default(3000),
    HEALTH_PORT: port.default(3001),
    ACCESS_PORT: port.default(3002),
    ACCESS_KEYS_FOLDER: z.string().default('/etc/coppice-access-keys'),
    DEFAULT_ACCESS: z.enum(DEFAULT_ACCESS_MODES).default('public'),
    LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
    USERS_NAMESPACE: z.string().default('coppice-users'),
    API_URL: httpUrl,
    ENVIRONMENTS_URL: httpUrl,
    REGISTRY_ADDRESS: z.string().default(''),
    REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' }),
    REDIS_PASSWORD: z.string().optional(),
    REGISTRATION: z.enum(['open', 'domains', 'closed']).default('closed'),
    REGISTRATION_DOMAINS: lowerCaseList,
    ADMINISTRATORS: lowerCaseList.pipe(z.array(emailField)),
    ADMINISTRATOR_PASSWORD: boundedPassword.min(10, 'must have at least 10 characters').optional(),
    REGISTRATION_PROVES_ADDRESS: z.enum(['true', 'false']).default('false'),
    OIDC_ISSUER: httpUrl.refine(({ protocol }) => protocol === 'https:', 'must be an https:// URL').optional(),
    OIDC_CLIENT_ID: z.string().optional(),
    OIDC_CLIENT_SECRET: z.string().optional(),
    OIDC_LANDING_PAGE: z
      .string()
      .regex(/^(\/(?!\/)|https?:\/\/)/, 'must be a path or an http(s) URL')
      .default('/'),
    MAX_ENVIRONMENTS_PER_GROUP: integerField(1, 1_000_000).default(200),
    TESTER_URL: httpUrl.optional(),
    TESTER_TOKEN_FILE: z.string().default('/etc/coppice-tester/token'),
    LOGINS_PER_MINUTE: integerField(1, 1_000_000).default(10),
    REQUESTS_PER_MINUTE: integerField(1, 1_000_000).default(1200),
    REQUEST_MEMORY_MIB: integerField(16, 1_000_000).default(64),
    WRITTEN_MIB_PER_MINUTE: integerField(1, 1_000_000).default(4),
    WRITTEN_MIB_PER_HOUR: integerField(1, 1_000_000).default(64),
    GROUPS_PER_ACCOUNT: integerField(1, 1_000_000).default(50),
    REPOSITORIES_PER_ACCOUNT: integerField(1, 1_000_000).default(200),
    ENVIRONMENTS_PER_ACCOUNT: integerField(1, 1_000_000).default(2000),
    TEXT_MIB_PER_ACCOUNT: integerField(1, 1_000_000).default(4),
    SHELL_ENABLED: z.enum(['true', 'false']).default('false'),
    SHELL_FORKS: z.enum(['true', 'false']).default('false'),
    SHELL_IDLE_SECONDS: integerField(10, 86_400).default(1800),
    TRUSTED_PROXIES: integerField(0, 10).default(0),
    TRUSTED_PROXY_CIDRS: lowerCaseList.pipe(
      z.array(z.union([z.cidrv4(), z.cidrv6()], { error: 'must be networks in CIDR notation' })),
    ),
    METRICS_TOKEN: metricsTokenField,
  })
  .refine((variables) => variables.REGISTRATION !== 'domains' || variables.REGISTRATION_DOMAINS.length > 0, {
    path: ['REGISTRATION_DOMAINS'],
    error: 'must name a domain when REGISTRATION is domains',
  })
  .refine((variables) => variables.OIDC_ISSUER === undefined || variables.OIDC_CLIENT_ID !== undefined, {
    path: ['OIDC_CLIENT_ID'],
    error: 'is required with OIDC_ISSUER',
  })
  .refine((variables) => variables.OIDC_ISSUER === undefined || variables.REGISTRATION_PROVES_ADDRESS === 'false', {
    path: ['REGISTRATION_PROVES_ADDRESS'],
    error:
      'must not be true with OIDC_ISSUER: a login there would be linked to the account of whoever registered the address',
  });

/**
 * Parses the configuration from environment variables; an empty one counts as absent.
 * @throws Error that names each missing or invalid variable, never its value.
 */
export function parseConfig(variables: Record<string, string | undefined>): Config {
  const data = readVariables(environmentSchema, variables);
  return {
    port: data.PORT,
    healthPort: data.HEALTH_PORT,
    logLevel: data.LOG_LEVEL,
    usersNamespace: data.USERS_NAMESPACE,
    ownOrigin: data.API_URL.origin,
    webAddress: webAddressOf(data.ENVIRONMENTS_URL),
    accessPort: data.ACCESS_PORT,
    accessKeysFolder: data.ACCESS_KEYS_FOLDER,
    defaultAccess: data.DEFAULT_ACCESS,
    ownVariables: { environmentsUrl: data.ENVIRONMENTS_URL, registry: data.REGISTRY_ADDRESS },
    redis: { url: data.REDIS_URL, password: data.REDIS_PASSWORD },
    registration: {
      mode: data.REGISTRATION,
      domains: data.REGISTRATION_DOMAINS,
      provesAddress: data.REGISTRATION_PROVES_ADDRESS === 'true',
    },
    administrators: data.ADMINISTRATORS,
    ...firstAdministrator(data.ADMINISTRATORS[0], data.ADMINISTRATOR_PASSWORD),
    ...oidcOf(data),
    maxEnvironmentsPerGroup: data.MAX_ENVIRONMENTS_PER_GROUP,
    tester: { url: data.TESTER_URL, tokenFile: data.TESTER_TOKEN_FILE },
    limits: { loginsPerMinute: data.LOGINS_PER_MINUTE, requestsPerMinute: data.REQUESTS_PER_MINUTE },
    budgets: {
      requestMemoryBytes: data.REQUEST_MEMORY_MIB * mebibyte,
      account: {
        groups: data.GROUPS_PER_ACCOUNT,
        repositories: data.REPOSITORIES_PER_ACCOUNT,
        environments: data.ENVIRONMENTS_PER_ACCOUNT,
        textBytes: data.TEXT_MIB_PER_ACCOUNT * mebibyte,
      },
      written: { perMinute: data.WRITTEN_MIB_PER_MINUTE * mebibyte, perHour: data.WRITTEN_MIB_PER_HOUR * mebibyte },
    },
    shell: {
      isEnabled: data.SHELL_ENABLED === 'true',
      allowsForks: data.SHELL_FORKS === 'true',
      idleMs: data.SHELL_IDLE_SECONDS * 1000,
    },
    trustedProxies: data.TRUSTED_PROXIES,
    trustedProxyCidrs: data.TRUSTED_PROXY_CIDRS,
    metricsToken: data.METRICS_TOKEN,
  };
}

function oidcOf(data: z.infer<typeof environmentSchema>): Pick<Config, 'oidc'> {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = data;
  if (!issuer || clientId === undefined) return {};
  return { oidc: { issuer, clientId, clientSecret: data.OIDC_CLIENT_SECRET, landingPage: data.OIDC_LANDING_PAGE } };
}

function firstAdministrator(email: string | undefined, password: string | undefined) {
  return email !== undefined && password !== undefined && { firstAdministrator: { email, password } };
}

function webAddressOf({ protocol, hostname, port }: URL): WebAddress {
  const scheme = protocol === 'https:' ? 'https' : 'http';
  return { scheme, domain: hostname, ...(port !== '' && { port: Number(port) }) };
}
