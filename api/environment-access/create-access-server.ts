import type { AccessKey } from '../../environment-access/keys.ts';
import { Sessions, type SessionRedis } from '../auth/sessions.ts';
import { Passwords } from '../auth/passwords.ts';
import { UserStore } from '../auth/user-store.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import { AccessServer, type AccessServerOptions } from './access-server.ts';
import { AccessCodes, type CodeRedis } from './codes.ts';
import { HostCookies } from './cookies.ts';
import { Gate } from './gate.ts';
import { Grants } from './grants.ts';
import { EnvironmentHosts, type EnvironmentHostsOptions } from './hosts.ts';
import { ACCESS_SCRYPT, AccessPasswords } from './passwords.ts';

export interface CreateAccessServerOptions {
  config: Pick<EnvironmentHostsOptions, 'webAddress' | 'defaultAccess'> & { ownOrigin: string; usersNamespace: string };
  cluster: ClusterWriter;
  caches: Caches;
  redis: SessionRedis & CodeRedis;
  keys: () => readonly AccessKey[];
  now: () => number;
  randomBytes: RandomBytes;
  logger: AccessServerOptions['logger'];
}

/** Creates the server that the Ingress controller asks about requests to environments. */
export function createAccessServer(options: CreateAccessServerOptions): AccessServer {
  const { config, cluster, caches, redis, keys, now, randomBytes, logger } = options;
  const { webAddress, ownOrigin, usersNamespace } = config;
  const passwords = new AccessPasswords({ cluster, passwords: new Passwords(randomBytes, ACCESS_SCRYPT), now });
  const sessions = new Sessions(redis, now, randomBytes);
  const users = new UserStore(cluster, caches.users, usersNamespace);
  const gate = new Gate({
    hosts: new EnvironmentHosts({ ...config, caches }),
    grants: new Grants({ users, sessions, passwords, now }),
    codes: new AccessCodes(redis, randomBytes),
    cookies: new HostCookies(webAddress.scheme === 'https'),
    ...{ keys, ownOrigin, now, randomBytes },
  });
  return new AccessServer({ gate, logger });
}
