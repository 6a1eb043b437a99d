import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { BuildLogWriter } from '../build-logs/writer.ts';
import { ENVIRONMENT, type Environment } from '../crds/environment.ts';
import { GROUP, type Group } from '../crds/group.ts';
import { ANNOTATIONS, FIELD_MANAGERS, LABELS } from '../crds/labels.ts';
import { REPOSITORY, type Repository } from '../crds/repository.ts';
import { Applier } from '../kubernetes/apply.ts';
import type { ClusterClient } from '../kubernetes/client.ts';
import { Controller, type Reconcile } from '../kubernetes/controller.ts';
import type { RuntimeMetrics } from '../kubernetes/metrics.ts';
import { keyOf, objectKey } from '../kubernetes/resource-type.ts';
import { Builder } from './build/builder.ts';
import { pullSecret, type BuilderCredentials } from './build/credentials.ts';
import { LogSessions } from './build/log-sessions.ts';
import { RegistryClient } from './build/registry.ts';
import { environmentKeyOf, type OperatorCaches } from './caches.ts';
import type { OperatorConfig, OperatorSecrets } from './config.ts';
import { BuildRun } from './environment/build-run.ts';
import { Contents } from './environment/contents.ts';
import { Planner } from './environment/planner.ts';
import { EnvironmentReconciler } from './environment/reconciler.ts';
import { Removal } from './environment/removal.ts';
import { VersionStore } from './environment/version-store.ts';
import { WorkloadSet } from './environment/workload-set.ts';
import { GroupReconciler } from './group/reconciler.ts';
import type { Redis } from './redis.ts';
import { RepositoryAccess } from './repository/access.ts';
import { RepositoryReconciler } from './repository/reconciler.ts';
import { addressGuard } from './source/addresses.ts';
import { Source } from './source/source.ts';
import { StatusWriter } from './status-writer.ts';

export interface ControllerParts {
  client: ClusterClient;
  caches: OperatorCaches;
  redis: Redis;
  config: OperatorConfig;
  secrets: OperatorSecrets;
  metrics: RuntimeMetrics;
  logger: Logger;
}

/** The controller of each kind, with what it is made of, and what makes it look at which object. */
export async function createControllers(parts: ControllerParts) {
  const { client, caches, redis, config, secrets, metrics, logger } = parts;
  const now = () => new Date();
  const applier = new Applier({
    client,
    fieldManager: FIELD_MANAGERS.operator,
    hashAnnotation: ANNOTATIONS.appliedHash,
  });
  const source = new Source({
    scratch: tmpdir(),
    isAddressAllowed: addressGuard(config.sources.allowedCidrs),
    timeoutMs: config.sources.timeoutSeconds * 1000,
  });
  const access = new RepositoryAccess(client, caches.repositories);
  const controller = (name: string, reconcile: Reconcile, workers: number) =>
    new Controller({
      name,
      reconcile,
      informers: Object.values(caches),
      workers,
      logger,
      metrics: metrics.forController(name),
    });

  const groups = controller('group', reconcileBy(groupReconciler()), 4);
  const repositories = controller('repository', reconcileBy(repositoryReconciler()), 8);
  const environments = controller('environment', (key) => environmentReconciler.reconcile(key), config.workers);
  const logs = new LogSessions({
    client,
    pods: caches.pods,
    openWriter: (logId, masked) => BuildLogWriter.open(redis, logId, { secrets: masked }),
    enqueue: (key) => environments.enqueue(key),
    logger,
  });
  const environmentReconciler = createEnvironmentReconciler(await readBuilderCredentials(config, secrets));
  route();
  return { controllers: [groups, repositories, environments], logs };

  function reconcileBy(reconciler: { reconcile: (key: string) => ReturnType<Reconcile> }): Reconcile {
    return (key) => reconciler.reconcile(key);
  }

  function groupReconciler(): GroupReconciler {
    const statuses = new StatusWriter<Group>(client, GROUP, caches.groups);
    const { memberRole } = config;
    return new GroupReconciler({
      client,
      applier,
      groups: caches.groups,
      namespaces: caches.namespaces,
      statuses,
      memberRole,
      now,
    });
  }

  function repositoryReconciler(): RepositoryReconciler {
    const statuses = new StatusWriter<Repository>(client, REPOSITORY, caches.repositories);
    const { repositories: cache, environments: theirs } = caches;
    return new RepositoryReconciler({
      client,
      repositories: cache,
      environments: theirs,
      access,
      source,
      statuses,
      now,
    });
  }

  function createEnvironmentReconciler(credentials: BuilderCredentials): EnvironmentReconciler {
    const { environmentsUrl, registry, builder: builderConfig, ingress, environments: limits, sources } = config;
    const fence = {
      ingressNamespace: ingress.namespace,
      builderNamespace: builderConfig.namespace,
      buildkitdPort: Number(new URL(builderConfig.address).port),
      gitPorts: sources.ports,
      quota: limits.quota,
      defaultRequests: limits.defaultRequests,
      defaultLimits: limits.defaultLimits,
    };
    const builder = new Builder({
      client,
      applier,
      jobs: caches.jobs,
      pods: caches.pods,
      source,
      registry: new RegistryClient({
        address: registry.address,
        insecure: registry.insecure,
        username: secrets.REGISTRY_USERNAME,
        password: secrets.REGISTRY_PASSWORD,
      }),
      registryAddress: registry.address,
      credentials,
      settings: {
        cloneImage: builderConfig.cloneImage,
        buildctlImage: builderConfig.buildctlImage,
        buildkitdAddress: builderConfig.address,
        registryInsecure: registry.insecure,
        deadlineSeconds: builderConfig.deadlineSeconds,
      },
    });
    const versions = new VersionStore(client);
    return new EnvironmentReconciler({
      client,
      environments: caches.environments,
      repositories: access,
      contents: new Contents(client, applier, caches.namespaces, {
        fence,
        pullSecret: (namespace, labels) => pullSecret(namespace, labels, registry.address, credentials),
      }),
      planner: new Planner(
        source,
        versions,
        {
          registry: registry.address,
          sourceDeadlineSeconds: sources.deadlineSeconds,
        },
        now,
      ),
      versions,
      workloads: new WorkloadSet(client, applier, caches),
      builds: new BuildRun(builder, logs),
      removal: new Removal(client),
      statuses: new StatusWriter<Environment>(client, ENVIRONMENT, caches.environments),
      settings: {
        environmentsUrl,
        ingressClassName: ingress.className,
        registry: registry.address,
        rolloutDeadlineSeconds: limits.rolloutDeadlineSeconds,
      },
      now,
    });
  }

  /** Which change of what makes whom look. */
  function route(): void {
    caches.groups.addHandler((_type, group) => groups.enqueue(keyOf(group)));
    caches.repositories.addHandler((_type, repository) => {
      repositories.enqueue(keyOf(repository));
      for (const environment of environmentsOf(repository)) environments.enqueue(keyOf(environment));
    });
    caches.environments.addHandler((type, environment) => {
      environments.enqueue(keyOf(environment));
      const { namespace } = environment.metadata;
      if (type === 'deleted') repositories.enqueue(objectKey(namespace, environment.spec.repository));
    });
    caches.namespaces.addHandler((_type, namespace) => {
      const group = namespace.metadata.labels?.[LABELS.group];
      const environment = environmentKeyOf(namespace);
      if (environment !== undefined) environments.enqueue(environment);
      else if (group !== undefined) groups.enqueue(group);
    });
    for (const cache of [caches.deployments, caches.services, caches.ingresses, caches.jobs, caches.pods]) {
      cache.addHandler((_type: unknown, object: Parameters<typeof environmentKeyOf>[0]) => {
        const key = environmentKeyOf(object);
        if (key !== undefined) environments.enqueue(key);
      });
    }
  }

  function environmentsOf({ metadata }: Repository): Environment[] {
    return caches.environments
      .byIndex('namespace', metadata.namespace ?? '')
      .filter(({ spec }) => spec.repository === metadata.name);
  }
}

async function readBuilderCredentials(config: OperatorConfig, secrets: OperatorSecrets): Promise<BuilderCredentials> {
  const read = (name: string) => readFile(join(config.builder.certificates, name), 'utf8');
  return {
    ca: await read('ca.crt'),
    certificate: await read('tls.crt'),
    key: await read('tls.key'),
    registryUsername: secrets.REGISTRY_USERNAME,
    registryPassword: secrets.REGISTRY_PASSWORD,
  };
}
