import { createHash, randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { RefSnapshot } from '../../crds/ref-snapshot.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { REUSABLE_ENVIRONMENT, type ReusableEnvironment } from '../../crds/reusable-environment.ts';
import { Secret, type KubernetesObject, type ResourceType } from '../../kubernetes/resource-type.ts';
import { systemClock, type Clock } from '../../kubernetes/clock.ts';
import { Sessions } from '../auth/sessions.ts';
import { INDEXES, type FreshCaches } from '../cluster/caches.ts';
import type { AppOptions } from '../app-options.ts';
import { createApp } from '../app.ts';
import { WebSockets } from '../http/web-sockets.ts';
import { userName, userSecret, type User } from '../user-records/user-record.ts';
import { verifyDeclarations } from './declared-answers.ts';
import { FakeCluster } from './fake-cluster.ts';
import { FakeLogReader } from './fake-log-reader.ts';
import { FakeRedis } from './fake-redis.ts';
import { FakeRuntimeLogs } from './fake-runtime-logs.ts';
import { storeListedRefs } from './listed-refs.ts';
import { testOptions, TEST_NAMESPACE } from './test-options.ts';

export function fakeCaches(cluster: FakeCluster): FreshCaches {
  return {
    groups: cluster.cacheOf<Group>(GROUP, INDEXES.groups),
    repositories: cluster.cacheOf<Repository>(REPOSITORY, INDEXES.repositories),
    environments: cluster.cacheOf<Environment>(ENVIRONMENT, INDEXES.environments),
    reusables: cluster.cacheOf<ReusableEnvironment>(REUSABLE_ENVIRONMENT, INDEXES.reusables),
    users: cluster.cacheOf(Secret, INDEXES.users),
  };
}

/** Makes the fake operator report every new Group and Repository as ready. */
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

/** The whole API with fakes for its dependencies; verifies every response against its endpoint's declaration. */
export class TestApi {
  readonly cluster: FakeCluster;
  readonly caches: FreshCaches;
  readonly redis: FakeRedis;
  readonly logReader = new FakeLogReader();
  readonly runtimeLogs = new FakeRuntimeLogs(this.logReader);
  readonly webSockets = new WebSockets();
  readonly registry = new Registry();
  /** Lines of the audit log. */
  readonly audited: Record<string, unknown>[] = [];
  readonly app;
  /** Current time of the API, in milliseconds since 1970. */
  now = Date.parse('2026-01-02T00:00:00Z');
  readonly #sessions: Sessions;

  /** Returns an API in which alice is logged in and has the group acme with the repository shop. */
  static async withShop(config: Partial<AppOptions['config']> = {}): Promise<{ api: TestApi; token: string }> {
    const api = new TestApi(config);
    const { token } = await api.login('alice@example.com');
    api.addGroup('acme', ['alice@example.com']);
    api.addRepository('acme', 'shop');
    return { api, token };
  }

  constructor(
    config: Partial<AppOptions['config']> = {},
    clock: Clock = systemClock,
    logTimes: AppOptions['logTimes'] = {},
    fetch?: AppOptions['fetch'],
    tester?: AppOptions['tester'],
    streamClock?: AppOptions['clock'],
    clusterReads?: AppOptions['clusterReads'],
    podStreams?: AppOptions['podStreams'],
  ) {
    const now = () => this.now;
    this.cluster = new FakeCluster(clock);
    this.cluster.afterCreate = readyAfterCreate(this.cluster);
    this.caches = fakeCaches(this.cluster);
    this.redis = new FakeRedis(now);
    this.#sessions = new Sessions(this.redis, now, randomBytes);
    const { cluster, caches, redis, logReader, runtimeLogs, webSockets, registry } = this;
    const auditLog = { info: (line: object) => this.audited.push({ ...line }) };
    const own = { cluster, caches, redis, logReader, runtimeLogs, webSockets, registry, auditLog };
    this.app = createApp(
      testOptions({
        ...own,
        config,
        logTimes,
        fetch,
        tester,
        now,
        clock: streamClock,
        ...(clusterReads && { clusterReads }),
        ...(podStreams && { podStreams }),
      }),
    );
    verifyDeclarations(this.app);
  }

  /** Creates a user who is logged in. */
  async login(email: string, verified = true): Promise<{ user: User; token: string }> {
    const accountId = createHash('sha256').update(email).digest('hex');
    const record = { accountId, email, passwordHash: 'none', verified };
    this.cluster.add(Secret, userSecret(record, TEST_NAMESPACE));
    const user = { ...record, name: userName(email) };
    return { user, token: await this.#sessions.create({ userName: user.name, accountId: user.accountId }) };
  }

  addGroup(name: string, members: string[], spec: Partial<Group['spec']> = {}): Group {
    const group = { ...head('Group', { name }), spec: { members, ...spec } };
    return this.cluster.add<Group>(GROUP, { ...group, ...ready });
  }

  addRepository(group: string, name: string, spec: Partial<Repository['spec']> = {}): Repository {
    const repository: Repository = {
      ...head('Repository', { namespace: groupNamespace(group), name }),
      spec: { type: 'generic', generic: { origin: `https://git.example/${name}.git` }, ...spec },
    };
    return this.cluster.add<Repository>(REPOSITORY, { ...repository, ...ready });
  }

  addEnvironment(
    group: string,
    name: string,
    repository: string,
    status: Environment['status'] = {},
    spec: Partial<Environment['spec']> = {},
  ): Environment {
    return this.cluster.add<Environment>(ENVIRONMENT, {
      ...head('Environment', { namespace: groupNamespace(group), name }),
      spec: { repository, gitRef: { name: 'main', type: 'branch' }, active: true, buildOnCreate: false, ...spec },
      status,
    });
  }

  /** Stores refs as those that the last sync of a repository listed. */
  listRefs(repository: string, refs: Partial<RefSnapshot>): Promise<void> {
    return storeListedRefs(this, repository, refs);
  }
}

const ready = conditionsPatch('Ready') as Pick<Group, 'status'>;

function head(kind: string, metadata: { name: string; namespace?: string }) {
  return { apiVersion: GROUP_VERSION, kind, metadata: { ...metadata, labels: { [LABELS.managedBy]: MANAGED_BY } } };
}
