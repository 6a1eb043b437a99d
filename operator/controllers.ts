import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { BuildLogRetention } from '../build-logs/retention.ts';
import { BuildLogWriter } from '../build-logs/writer.ts';
import { GROUP, type Group } from '../crds/group.ts';
import { ANNOTATIONS, FIELD_MANAGERS } from '../crds/labels.ts';
import { newestRequestId } from '../crds/requests.ts';
import { REPOSITORY, type Repository } from '../crds/repository.ts';
import { Applier } from '../kubernetes/apply.ts';
import { Controller, type ReconcileResult } from '../kubernetes/controller.ts';
import { keyOf } from '../kubernetes/resource-type.ts';
import type { Turn } from '../kubernetes/turns.ts';
import { ImageCollector } from './build/image-collector.ts';
import { createBuildQueues } from './build/create-queue.ts';
import { LogSessions } from './build/log-sessions.ts';
import { createBuilders } from './builders/create.ts';
import type { BuilderPool } from './builders/pool.ts';
import { createEnvironmentReconciler } from './environment/create.ts';
import { VersionStore } from './environment/version-store.ts';
import { tellRefGone } from './events/create.ts';
import { createFeedbackReconciler, routeFeedback } from './feedback/create.ts';
import { GroupMembership } from './group/group-membership.ts';
import { GroupReconciler } from './group/reconciler.ts';
import { createOrphanSweeper } from './orphans/create.ts';
import type { OperatorParts } from './parts.ts';
import { createLostVolumes, createReusableReconciler, createReusables, routeReusables } from './reusable/create.ts';
import { ReusableStore } from './reusable/store.ts';
import { RepositoryConfigurations } from './repository/configuration.ts';
import { RepositoryReconciler } from './repository/reconciler.ts';
import { auditRemovals } from './repository/removal-audit.ts';
import { RepositorySync } from './repository/repository-sync.ts';
import { createHostHttp } from './hosts/create.ts';
import { GitHosts } from './hosts/git-hosts.ts';
import { SshKeys } from './hosts/ssh-keys.ts';
import { createRegistries } from './registry/create.ts';
import { routeChanges } from './routing.ts';
import { addressGuard } from './source/addresses.ts';
import { createSizesReconciler, routeSizes } from './sizes/create.ts';
import { Source } from './source/source.ts';
import { createKeyPair } from './source/ssh-tools.ts';
import { StatusWriter } from './status-writer.ts';
import { createTestsReconciler, routeTests } from './tests/create.ts';
import { workTurns } from './turns.ts';
import { WebhookSecrets } from './webhooks/webhook-secrets.ts';
import { WebhookSetup } from './webhooks/webhook-setup.ts';

type Given = Omit<OperatorParts, 'applier' | 'source' | 'hosts' | 'configurations' | 'registries' | 'versions' | 'now'>;

/** What is over by then, such as an outage of the API server, holds nothing up for longer. */
const longestBackoffMs = 60_000;

/** The controller of each kind, with what it is made of, and what makes it look at which object. */
export function createControllers(given: Given): { controllers: Controller[]; logs: LogSessions } {
  const parts = completeParts(given);
  const { client, caches, redis, logger, config } = parts;
  const retention = buildLogRetention(parts);
  const enqueueEnvironment = (key: string) => environments.enqueue(key);
  const logs = new LogSessions({
    client,
    pods: caches.pods,
    openWriter: (logId, secrets) => BuildLogWriter.open(redis, logId, { secrets }),
    onEnded: (uid, build) => retention.ended(uid, build),
    enqueue: enqueueEnvironment,
    logger,
  });
  const { pool, reconciler, route } = createBuilders(parts, enqueueEnvironment);
  const builders = controller(parts, 'builder', reconciler, 4);
  const groups = controller(parts, 'group', groupReconciler(parts, pool), 4);
  const turns = workTurns(caches);
  const repositories = controller(parts, 'repository', repositoryReconciler(parts), 8, turns.ofRepository);
  const queues = createBuildQueues(caches.jobs, config.builder, enqueueEnvironment, parts.now);
  const reusables = createReusables(parts);
  const environmentReconciler = createEnvironmentReconciler(
    parts,
    logs,
    parts.credentials.current,
    pool,
    queues,
    reusables,
    enqueueEnvironment,
  );
  const environments = controller(parts, 'environment', environmentReconciler, config.workers, turns.ofEnvironment);
  routeChanges(caches, { groups, repositories, environments });
  // Each environment's namespace has a Secret with them.
  parts.credentials.watch(() => {
    for (const environment of caches.environments.list()) environments.enqueue(keyOf(environment));
  });
  route(builders);
  const reusable = controller(parts, 'reusable', createReusableReconciler(parts, reusables), 4);
  const lostVolumes = controller(parts, 'lost-volume', createLostVolumes(parts), 1);
  routeReusables(caches, { environments, reusables: reusable, lostVolumes });
  const feedback = controller(parts, 'feedback', createFeedbackReconciler(parts), 4, turns.ofEnvironment);
  routeFeedback(caches, config.apiUrl, feedback);
  const sizes = controller(parts, 'sizes', createSizesReconciler(parts), 2);
  routeSizes(caches, sizes);
  const tests = controller(parts, 'tests', createTestsReconciler(parts), 4, turns.ofEnvironment);
  routeTests(caches, tests);
  const images = controller(parts, 'images', imageCollector(parts), 1);
  if (config.registry.keepUnusedHours > 0) images.enqueue('all');
  const orphans = controller(parts, 'orphans', createOrphanSweeper(parts), 1);
  orphans.enqueue('all');
  const all = [
    groups,
    repositories,
    environments,
    reusable,
    lostVolumes,
    feedback,
    builders,
    images,
    orphans,
    sizes,
    tests,
  ];
  return { controllers: all, logs };
}

function completeParts(given: Given): OperatorParts {
  const { client, caches, config } = given;
  const now = () => new Date();
  const source = new Source({
    scratch: tmpdir(),
    isAddressAllowed: addressGuard(config.sources.allowedCidrs),
    ports: config.sources.ports,
    sshPorts: config.sources.sshPorts,
    timeoutMs: config.sources.timeoutSeconds * 1000,
    caCertificates: config.caCertificates,
  });
  const http = createHostHttp(config, now);
  const sshKeys = new SshKeys({ client, createKeyPair: (comment) => createKeyPair(tmpdir(), comment) });
  const hosts = new GitHosts({ client, source, http, sshKeys, defaults: config.sources.hosts });
  return {
    ...given,
    applier: new Applier({
      client,
      fieldManager: FIELD_MANAGERS.operator,
      hashAnnotation: ANNOTATIONS.appliedHash,
    }),
    source,
    hosts,
    configurations: new RepositoryConfigurations(client, caches.repositories, caches.groups, hosts),
    registries: createRegistries(config, given.credentials.current),
    versions: new VersionStore(client),
    now,
  };
}

/** Which REST request was the last to ask for something of the object. */
function requestFields(
  { environments, repositories }: OperatorParts['caches'],
  controllerName: string,
  key: string,
): object {
  const cache = controllerName === 'repository' ? repositories : environments;
  const requestId = newestRequestId(cache.get(key)?.metadata.annotations);
  return requestId === undefined ? {} : { requestId };
}

interface Reconciler {
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>;
}

/** `turnOf`: of what may wait for a Git host, that no group's keep another's waiting. */
function controller(
  parts: OperatorParts,
  name: string,
  reconciler: Reconciler,
  workers: number,
  turnOf?: (key: string) => Turn,
): Controller {
  const { caches, logger, metrics } = parts;
  return new Controller({
    name,
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
    informers: Object.values(caches),
    workers,
    ...(turnOf && { turnOf }),
    maxDelayMs: longestBackoffMs,
    logger,
    logFields: (key) => requestFields(caches, name, key),
    metrics: metrics.forController(name),
  });
}

function groupReconciler(
  { client, applier, caches, config, now }: OperatorParts,
  builders: BuilderPool,
): GroupReconciler {
  const { groups, namespaces, roleBindings } = caches;
  const store = new ReusableStore({ ...caches, client, applier });
  const statuses = new StatusWriter<Group>(client, GROUP, groups);
  const { memberRole: member, apiRole: api, apiServiceAccount } = config.groups;
  const roles = { member, api, apiServiceAccount: { namespace: config.systemNamespace, name: apiServiceAccount } };
  return new GroupReconciler({
    ...{ client, applier, groups, namespaces, roleBindings, store, builders, statuses, roles, now },
  });
}

function imageCollector({ registries, caches, config, now, logger }: OperatorParts): ImageCollector {
  const { registry, found } = registries;
  return new ImageCollector({
    registry,
    found,
    imageRegistry: config.registry,
    groupNames: () => caches.groups.list().map(({ metadata }) => metadata.name),
    environments: () => caches.environments.list(),
    reusables: () => caches.reusables.list(),
    jobs: () => caches.jobs.list(),
    keepMs: config.registry.keepUnusedHours * 3600_000,
    now,
    logger,
  });
}

function repositoryReconciler(parts: OperatorParts): RepositoryReconciler {
  const { client, caches, hosts, source, config, events, logger, now } = parts;
  const { repositories, environments } = caches;
  const secrets = new WebhookSecrets({ client, randomBytes });
  const webhooks = new WebhookSetup({ secrets, hosts, apiUrl: config.apiUrl, logger, now });
  const { pollSeconds, mostEnvironments } = config.sources;
  const onRefGone = tellRefGone(events);
  const audit = auditRemovals(logger);
  const sync = new RepositorySync({
    client,
    environments,
    source,
    pollSeconds,
    mostEnvironments,
    onRefGone,
    audit,
    now,
  });
  const statuses = new StatusWriter<Repository>(client, REPOSITORY, repositories);
  const groups = new GroupMembership(caches.groups, caches.namespaces);
  return new RepositoryReconciler({
    ...{ client, repositories, environments, groups, hosts, sync, webhooks, statuses, now },
  });
}

/** The logs of an environment go with it; those of one that went while nobody looked expire. */
function buildLogRetention({ redis, config, caches, logger, now }: OperatorParts): BuildLogRetention {
  const { buildsPerEnvironment, totalMiB } = config.buildLogs;
  const retention = new BuildLogRetention(redis, { buildsPerEnvironment, totalBytes: totalMiB * 1024 * 1024 }, now);
  caches.environments.addHandler((type, { metadata, status }) => {
    if (type !== 'deleted' || status?.build === undefined) return;
    retention
      .forget(metadata.uid ?? '', status.build.number)
      .catch((error: unknown) => logger.warn({ err: error }, "a deleted environment's build logs are left to expire"));
  });
  return retention;
}
