import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AppOptions } from '../../api/app-options.ts';
import { createApp } from '../../api/app.ts';
import { Sessions } from '../../api/auth/sessions.ts';
import { startServer, stopServer } from '../../api/http/server.ts';
import { WebSockets } from '../../api/http/web-sockets.ts';
import type { PanelFiles } from '../../api/panel/panel-files.ts';
import { FakeCluster } from '../../api/testing/fake-cluster.ts';
import { FakeLogReader } from '../../api/testing/fake-log-reader.ts';
import { FakeRedis } from '../../api/testing/fake-redis.ts';
import { FakeRuntimeLogs } from '../../api/testing/fake-runtime-logs.ts';
import { fakeCaches, readyAfterCreate } from '../../api/testing/test-api.ts';
import { TEST_NAMESPACE, testOptions, UNLIMITED, weakPasswords } from '../../api/testing/test-options.ts';
import { userName, userSecret } from '../../api/user-records/user-record.ts';
import { GROUP_VERSION } from '../../crds/api-group.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { GROUP, type Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { systemClock } from '../../kubernetes/clock.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { buildPanel, compressed } from '../../panel/build.ts';
import { freePort } from '../local-server.ts';

export const PASSWORD = 'a long password';

/** Parts of the API's options that a test replaces. */
export type LocalOptions = Partial<Pick<AppOptions, 'tester' | 'clusterReads' | 'fetch'>> & {
  config?: Partial<AppOptions['config']>;
};

/** The API with the compiled panel on a local port, and with a cluster and a Redis in memory. */
export class LocalPanel {
  readonly cluster = new FakeCluster(systemClock);
  readonly caches = fakeCaches(this.cluster);
  readonly redis = new FakeRedis(Date.now);
  readonly logReader = new FakeLogReader();
  readonly runtimeLogs = new FakeRuntimeLogs(this.logReader);
  readonly port: number;
  readonly #panel: PanelFiles;
  readonly #options: LocalOptions;
  readonly #accountIds = new Map<string, string>();
  #running: { server: Server; webSockets: WebSockets } | undefined;

  private constructor(port: number, panel: PanelFiles, options: LocalOptions) {
    this.port = port;
    this.#panel = panel;
    this.#options = options;
    this.cluster.afterCreate = readyAfterCreate(this.cluster);
  }

  static async start(options: LocalOptions = {}, port?: number): Promise<LocalPanel> {
    const local = new LocalPanel(port ?? (await freePort()), await panelFiles(), options);
    await local.startApi();
    return local;
  }

  get url(): string {
    return `http://localhost:${this.port}`;
  }

  /** Starts the API: the cluster and Redis are those of before. */
  async startApi(): Promise<void> {
    const webSockets = new WebSockets();
    const { cluster, caches, redis, logReader, runtimeLogs } = this;
    const { config, ...given } = this.#options;
    const options = testOptions({
      ...{ cluster, caches, redis, logReader, runtimeLogs, webSockets },
      ...given,
      panel: this.#panel,
      passwords: weakPasswords,
      config: { ...UNLIMITED, ownOrigin: this.url, ...config },
    });
    const { server } = await startServer(createApp(options), webSockets, this.port);
    this.#running = { server, webSockets };
  }

  /** Stops the API as a restart does: every connection ends. */
  async stopApi(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running) await stopServer(running.server, running.webSockets, 100);
  }

  /** Adds a user with PASSWORD. */
  async addUser(email: string): Promise<void> {
    const accountId = randomBytes(32).toString('hex');
    const passwordHash = await weakPasswords.hash(PASSWORD);
    this.#accountIds.set(email, accountId);
    this.cluster.add(Secret, userSecret({ accountId, email, passwordHash, verified: true }, TEST_NAMESPACE));
  }

  /** Returns the token of a new login of a user that addUser() has added. */
  login(email: string): Promise<string> {
    const accountId = this.#accountIds.get(email) ?? '';
    return new Sessions(this.redis, Date.now, randomBytes).create({ userName: userName(email), accountId });
  }

  addGroup(name: string, members: string[], displayName?: string): void {
    this.cluster.add<Group>(GROUP, {
      ...head('Group', { name }),
      spec: { members, ...(displayName !== undefined && { displayName }) },
      ...ready(),
    });
  }

  addRepository(group: string, name: string, spec: Partial<Repository['spec']> = {}): void {
    this.cluster.add<Repository>(REPOSITORY, {
      ...head('Repository', { namespace: groupNamespace(group), name }),
      spec: { type: 'generic', generic: { origin: `https://git.example/${group}/${name}.git` }, ...spec },
      ...ready(),
    });
  }

  addEnvironment(
    group: string,
    name: string,
    spec: Pick<Environment['spec'], 'repository' | 'gitRef'> & Partial<Environment['spec']>,
    status: Environment['status'] = {},
  ): Environment {
    return this.cluster.add<Environment>(ENVIRONMENT, {
      ...head('Environment', { namespace: groupNamespace(group), name }),
      spec: { active: true, buildOnCreate: false, ...spec },
      status,
    });
  }
}

/** The panel's files, compiled once per process. */
let panel: Promise<PanelFiles> | undefined;

function panelFiles(): Promise<PanelFiles> {
  panel ??= buildPanel().then(({ index, files }) => {
    const encoded = (name: string, bytes: Buffer) => {
      const { br, gz } = compressed(bytes);
      return { type: name.split('.').at(-1) ?? '', bytes: { identity: bytes, br, gzip: gz } };
    };
    return {
      index: encoded('index.html', index),
      assets: new Map(files.map(({ name, bytes }) => [name, encoded(name, bytes)])),
    };
  });
  return panel;
}

function head(kind: string, metadata: { name: string; namespace?: string }) {
  const creationTimestamp = new Date(Date.now() - 3600_000).toISOString();
  return {
    apiVersion: GROUP_VERSION,
    kind,
    metadata: { ...metadata, creationTimestamp, labels: { [LABELS.managedBy]: MANAGED_BY } },
  };
}

function ready() {
  const lastTransitionTime = new Date().toISOString();
  return {
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'True' as const,
          reason: 'Test',
          message: '',
          observedGeneration: 1,
          lastTransitionTime,
        },
      ],
    },
  };
}
