import { createHash, randomBytes } from 'node:crypto';
import { MemoryStore } from 'express-rate-limit';
import { Registry } from 'prom-client';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { Secret, type KubernetesObject, type ResourceType } from '../../kubernetes/resource-type.ts';
import { systemClock, type Clock } from '../../kubernetes/clock.ts';
import { silentLogger } from '../../kubernetes/testing/silent-logger.ts';
import { Passwords } from '../auth/passwords.ts';
import { Sessions } from '../auth/sessions.ts';
import { indexes, type Caches } from '../cluster/caches.ts';
import { createApp, type AppDependencies } from '../http/app.ts';
import { WebSockets } from '../http/web-sockets.ts';
import { userName, userSecret, type User } from '../users/user-record.ts';
import { FakeCluster } from './fake-cluster.ts';
import { FakeLogReader } from './fake-log-reader.ts';
import { FakeRedis } from './fake-redis.ts';

export const TEST_NAMESPACE = 'coppice-system';
export const TEST_ORIGIN = 'http://coppice.localhost:8080';

/** Cheap, so that a test of a hundred logins takes no minute. */
const weakPasswords = new Passwords(randomBytes, { ln: 4, r: 8, p: 1 });

export function fakeCaches(cluster: FakeCluster): Caches {
  return {
    groups: cluster.cacheOf<Group>(GROUP, indexes.groups),
    repositories: cluster.cacheOf<Repository>(REPOSITORY, indexes.repositories),
    environments: cluster.cacheOf<Environment>(ENVIRONMENT, indexes.environments),
    users: cluster.cacheOf(Secret, {}),
  };
}

/** What the operator says of every new Group and Repository: that it is ready. */
export function readyAfterCreate(cluster: FakeCluster) {
  return (type: ResourceType, { metadata }: KubernetesObject): void => {
    if (type.kind === 'Group' || type.kind === 'Repository') cluster.change(type, metadata, conditionsPatch('Ready'));
  };
}

export function conditionsPatch(type: 'Ready' | 'Stalled', message = '', observedGeneration = 1): object {
  const conditions = [
    { type, status: 'True', reason: 'Test', message, observedGeneration, lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  return { status: { conditions } };
}

/** The whole API over fakes. */
export class TestApi {
  readonly cluster: FakeCluster;
  readonly caches: Caches;
  readonly redis: FakeRedis;
  readonly logReader = new FakeLogReader();
  readonly webSockets = new WebSockets();
  readonly registry = new Registry();
  readonly app;
  /** What Date.now() is to the API. */
  now = Date.parse('2026-01-02T00:00:00Z');
  readonly #sessions: Sessions;

  constructor(
    config: Partial<AppDependencies['config']> = {},
    clock: Clock = systemClock,
    logTimes: AppDependencies['logTimes'] = {},
  ) {
    const now = () => this.now;
    this.cluster = new FakeCluster(clock);
    this.cluster.afterCreate = readyAfterCreate(this.cluster);
    this.caches = fakeCaches(this.cluster);
    this.redis = new FakeRedis(now);
    this.#sessions = new Sessions(this.redis, now, randomBytes);
    this.app = createApp({
      config: {
        ownOrigin: TEST_ORIGIN,
        webAddress: { scheme: 'http', domain: 'env.localhost', port: 8080 },
        registration: { mode: 'open', domains: [], provesAddress: false },
        limits: { loginsPerMinute: 1000, requestsPerMinute: 1000 },
        usersNamespace: TEST_NAMESPACE,
        trustedProxies: 0,
        ...config,
      },
      cluster: this.cluster,
      caches: this.caches,
      sessions: this.redis,
      limitStores: () => new MemoryStore(),
      passwords: weakPasswords,
      logReader: this.logReader,
      webSockets: this.webSockets,
      logTimes,
      now,
      randomBytes,
      registry: this.registry,
      logger: silentLogger,
    });
  }

  /** A user with a login. */
  async login(email: string, verified = true): Promise<{ user: User; token: string }> {
    const accountId = createHash('sha256').update(email).digest('hex');
    const record = { accountId, email, passwordHash: 'none', verified };
    this.cluster.add(Secret, userSecret(record, TEST_NAMESPACE));
    const user = { ...record, name: userName(email) };
    return { user, token: await this.#sessions.create({ userName: user.name, accountId: user.accountId }) };
  }

  addGroup(name: string, members: string[]): Group {
    const group = { ...head('Group', { name }), spec: { members } };
    return this.cluster.add<Group>(GROUP, { ...group, ...ready });
  }

  addRepository(group: string, name: string): Repository {
    const repository: Repository = {
      ...head('Repository', { namespace: groupNamespace(group), name }),
      spec: { type: 'generic', generic: { origin: `https://git.example/${name}.git` } },
    };
    return this.cluster.add<Repository>(REPOSITORY, { ...repository, ...ready });
  }

  addEnvironment(group: string, name: string, repository: string, status: Environment['status'] = {}): Environment {
    return this.cluster.add<Environment>(ENVIRONMENT, {
      ...head('Environment', { namespace: groupNamespace(group), name }),
      spec: { repository, gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: false },
      status,
    });
  }
}

const ready = conditionsPatch('Ready') as Pick<Group, 'status'>;

function head(kind: string, metadata: { name: string; namespace?: string }) {
  return { apiVersion: GROUP_VERSION, kind, metadata };
}
