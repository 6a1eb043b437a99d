import { randomBytes } from 'node:crypto';
import { groupNamespace, groupOfNamespace, idOf } from '../../crds/ids.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf, objectKey } from '../../kubernetes/resource-type.ts';
import type { OperatorCaches } from './caches.ts';
import { reportRefGone } from '../reports/events/record.ts';
import { GroupMembership } from '../kinds/group/group-membership.ts';
import type { OperatorContext } from './context.ts';
import { RepositoryReconciler } from '../kinds/repository/reconciler.ts';
import { auditRemovals } from '../kinds/repository/removal-audit.ts';
import { EnvironmentAllowance } from '../kinds/repository/environment-allowance.ts';
import { RefSnapshots } from '../kinds/repository/ref-snapshots.ts';
import { RepositorySync } from '../kinds/repository/repository-sync.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { WebhookSecrets } from '../source/webhooks/webhook-secrets.ts';
import { WebhookSetup } from '../source/webhooks/webhook-setup.ts';
import { createController } from './controller.ts';
import { isSameOwner, isStatusOnly } from '../shared/watch-filters.ts';

/** Creates the controller of Repositories, which synchronizes their Environments with their refs. */
export function repositoryController(context: OperatorContext): Controller {
  const reconciler = repositoryReconciler(context);
  const flowOf = (key: string) => context.flows.ofRepository(key);
  const controller = createController(context, { name: 'repository', reconciler, workers: 8, flowOf });
  watchForRepositories(context.caches, controller);
  return controller;
}

/**
 * Requeues a Repository when it changes, when its namespace may now belong to a Group, and when an object is deleted
 * that it waits for.
 */
export function watchForRepositories(caches: OperatorCaches, controller: Pick<Controller, 'enqueue'>): void {
  const { groups, repositories, environments, namespaces } = caches;
  repositories.addHandler((_type, repository, old) => {
    if (!isStatusOnly(repository, old)) controller.enqueue(keyOf(repository));
  });
  environments.addHandler((type, { metadata, spec }) => {
    if (type !== 'deleted') return;
    // A Repository that is being deleted waits until its Environments are gone.
    const repository = repositories.get(objectKey(metadata.namespace, spec.repository));
    if (repository?.metadata.deletionTimestamp !== undefined) controller.enqueue(keyOf(repository));
  });
  groups.addHandler((_type, group, old) => {
    if (group.metadata.uid !== old?.metadata.uid) enqueueAllOf(groupNamespace(group.metadata.name));
  });
  namespaces.addHandler((_type, namespace, old) => {
    const { name } = namespace.metadata;
    if (groupOfNamespace(name) !== undefined && !isSameOwner(namespace, old)) enqueueAllOf(name);
  });

  function enqueueAllOf(namespace: string): void {
    for (const one of repositories.byIndex('namespace', namespace)) controller.enqueue(keyOf(one));
  }
}

function repositoryReconciler(context: OperatorContext): RepositoryReconciler {
  const { client, caches, redis, hosts, source, flows, configurations, config, events, logger, now } = context;
  const { repositories, environments } = caches;
  const secrets = new WebhookSecrets({ client, randomBytes });
  const takesComments = (repository: Repository) => {
    const { isRequired, byComment } = configurations.forkApproval(idOf(repository));
    return isRequired && byComment;
  };
  const webhooks = new WebhookSetup({ secrets, hosts, apiUrl: config.apiUrl, takesComments, logger, now });
  const { pollSeconds, maxEnvironments, maxEnvironmentsPerAccount, maxForkEnvironments } = config.sources;
  const allowance = new EnvironmentAllowance({
    ...{ groups: caches.groups, environments },
    perRepository: maxEnvironments,
    perAccount: maxEnvironmentsPerAccount,
  });
  const onRefGone = reportRefGone(events);
  const audit = auditRemovals(logger);
  const sync = new RepositorySync({
    client,
    environments,
    repositories,
    source,
    flows,
    pollSeconds,
    allowance,
    maxForkEnvironments,
    snapshots: new RefSnapshots(redis, logger),
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
