import type { CustomFetch } from 'openid-client';
import type { Directory } from '../auth/visibility.ts';
import { Authenticator, emailOfLogin } from '../auth/authenticate.ts';
import type { Passwords } from '../auth/passwords.ts';
import { Sessions, type SessionRedis } from '../auth/sessions.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import type { GroupService } from '../groups/group-service.ts';
import type { Memberships } from '../groups/memberships.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { limitOidc, type LimitLogger, type RateLimits, type StoreFactory } from '../limits/rate-limit.ts';
import { Accounts } from './accounts.ts';
import { administrationRoutes } from './administration-routes.ts';
import { Administration, type EndedMemberships } from './administration.ts';
import { ApiTokens } from './api-tokens.ts';
import { Attempts } from './attempts.ts';
import { GroupInvitations } from './group-invitations.ts';
import { boundedFetch } from './oidc/bounded-fetch.ts';
import { LoginStates, type LoginRedis } from './oidc/login-states.ts';
import { OidcAccounts } from './oidc/oidc-accounts.ts';
import { CALLBACK_PATH, OIDC_LOGIN_PATH, oidcRoutes } from './oidc/oidc-routes.ts';
import { Provider, type OidcConfig } from './oidc/provider.ts';
import type { RegistrationPolicy } from './registration-policy.ts';
import { openUserRoutes, userRoutes } from './routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { Grants, type GrantRedis } from './sign-in/grants.ts';
import { signInRoutes } from './sign-in/routes.ts';
import { tokenRoutes } from './token-routes.ts';
import { UserStore } from '../auth/user-store.ts';

/** The part of the API's configuration that concerns users. */
interface UserConfig {
  registration: RegistrationPolicy;
  usersNamespace: string;
  administrators: readonly string[];
  oidc?: OidcConfig;
  ownOrigin: string;
  limits: RateLimits;
  shell: { isEnabled: boolean };
}

export interface UserServicesOptions {
  config: UserConfig;
  cluster: ClusterWriter;
  caches: Pick<Caches, 'users' | 'groups'>;
  directory: Pick<Directory, 'sees'>;
  groups: Pick<GroupService, 'createOwn'>;
  memberships: EndedMemberships & Pick<Memberships, 'leaveMade'>;
  sessions: SessionRedis & LoginRedis & GrantRedis;
  limitStores: StoreFactory;
  logger: LimitLogger;
  passwords: Passwords;
  now: () => number;
  randomBytes: RandomBytes;
  /** Used for requests to the OpenID Connect provider; Node's own fetch if absent. */
  fetch?: CustomFetch | undefined;
}

/** Creates everything that concerns users, including their endpoints. */
export function userServices(options: UserServicesOptions): {
  authenticator: Authenticator;
  endpoints: Endpoint[];
} {
  const { config, cluster, caches, groups, memberships, passwords, limitStores, now, randomBytes } = options;
  const sessions = new Sessions(options.sessions, now, randomBytes);
  const users = new UserStore(cluster, caches.users, config.usersNamespace);
  const authenticator = new Authenticator(sessions, users, now);
  const invitations = new GroupInvitations({ cluster, cache: caches.groups, users, now });
  const policy = config.registration;
  const attempts = new Attempts(config.limits.loginsPerMinute, limitStores('coppice:limit:email:'));
  const { administrators } = config;
  const owned = { users, groups, policy, administrators, randomBytes };
  const accounts = new Accounts({
    ...owned,
    memberships,
    sessions,
    passwords,
    invitations,
    attempts,
    now,
  });
  const apiTokens = new ApiTokens({ users, now, randomBytes });
  const administration = new Administration({ users, sessions, memberships, administrators, now, randomBytes });
  const oidcAccounts = new OidcAccounts({ ...owned, accounts });
  return {
    authenticator,
    endpoints: [
      ...openUserRoutes({
        accounts,
        invitations,
        emailOf: (request) => emailOfLogin(request, authenticator, config.ownOrigin),
        registration: policy.mode,
        oidcPath: config.oidc && OIDC_LOGIN_PATH,
        ownOrigin: config.ownOrigin,
      }),
      ...userRoutes({
        ...{ users, accounts, administration, sessions, apiTokens },
        ...{ isHttps: isHttps(config), hasShell: config.shell.isEnabled },
      }),
      ...sessionRoutes({ sessions }),
      ...signInRoutes({
        ...{ accounts, users, sessions, attempts, ownOrigin: config.ownOrigin },
        grants: new Grants({ redis: options.sessions, now, randomBytes }),
      }),
      ...tokenRoutes({ apiTokens, directory: options.directory }),
      ...administrationRoutes({ administration }),
      ...(config.oidc ? oidcEndpoints(config.oidc, accounts, oidcAccounts, options) : []),
    ],
  };
}

function oidcEndpoints(
  oidc: OidcConfig,
  accounts: Accounts,
  oidcAccounts: OidcAccounts,
  { config, sessions, limitStores, logger, randomBytes, fetch = globalThis.fetch }: UserServicesOptions,
): Endpoint[] {
  const provider = new Provider(oidc, `${config.ownOrigin}${CALLBACK_PATH}`, boundedFetch(fetch));
  const states = new LoginStates(sessions, randomBytes);
  const limit = limitOidc(config.limits, limitStores, logger);
  return oidcRoutes({
    provider,
    states,
    oidcAccounts,
    accounts,
    landingPage: oidc.landingPage,
    limit,
    isHttps: isHttps(config),
  });
}

function isHttps({ ownOrigin }: Pick<UserConfig, 'ownOrigin'>): boolean {
  return ownOrigin.startsWith('https:');
}
