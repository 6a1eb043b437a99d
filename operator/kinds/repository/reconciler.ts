import { isDeepStrictEqual } from 'node:util';
import { findCondition, mergeConditions, type ConditionReport } from '../../../crds/conditions.ts';
import type { Environment } from '../../../crds/environment.ts';
import { REPOSITORY, repositorySchema, type Repository } from '../../../crds/repository.ts';
import { REPOSITORY_REQUESTS } from '../../../crds/requests.ts';
import { ApiError, isConflict, isUnavailable } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { keyOf } from '../../../kubernetes/resource-type.ts';
import { afterError, inputReports, ready, terminating } from '../../shared/conditions.ts';
import { Stalled, userMustAct, Waiting } from '../../shared/errors.ts';
import { addFinalizer, removeFinalizer } from '../../shared/finalizer.ts';
import type { GroupMembership } from '../group/group-membership.ts';
import { HostBusyError, SourceRefusedError, SourceUnreachableError } from '../../source/errors.ts';
import { parseObject } from '../../shared/parse-object.ts';
import type { StatusWriter } from '../../shared/status-writer.ts';
import type { GitHosts } from '../../source/hosts/git-hosts.ts';
import type { WebhookSetup } from '../../source/webhooks/webhook-setup.ts';
import { readableMessage } from './capabilities.ts';
import { sameHostRepository } from './host-repository.ts';
import type { RepositorySync, SyncOutcome } from './repository-sync.ts';
import { awaitedReport, suspendedReport, syncedReport, unsyncedReport } from './sync-report.ts';

type RepositoryStatus = NonNullable<Repository['status']>;

/** What a reconcile reports about a Repository. */
interface Reported {
  reports: ConditionReport[];
  fields: Partial<RepositoryStatus>;
}

export interface RepositoryReconcilerOptions {
  client: Pick<ClusterClient, 'patch'>;
  repositories: Pick<Informer<Repository>, 'get'>;
  environments: Pick<Informer<Environment>, 'byIndex'>;
  groups: Pick<GroupMembership, 'problem'>;
  hosts: Pick<GitHosts, 'of' | 'sshPublicKey'>;
  sync: RepositorySync;
  webhooks: Pick<WebhookSetup, 'isDue' | 'ensure' | 'remove'>;
  statuses: StatusWriter<Repository>;
  now: () => Date;
}

const removalRecheckMs = 10_000;
const refusalRecheckMs = 5 * 60_000;
/**
 * Delay before a readable repository is checked again after a refusal, in milliseconds: a host under maintenance can
 * respond unexpectedly.
 */
const newRefusalRecheckMs = 30_000;

/** Checks that a Repository can be read, synchronizes its Environments with its refs, and deletes them with it. */
export class RepositoryReconciler {
  readonly #options: RepositoryReconcilerOptions;

  constructor(options: RepositoryReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const held = this.#options.repositories.get(key);
    if (!held) return {};
    const { object: repository, problem } = parseObject(repositorySchema, held);
    if (held.metadata.deletionTimestamp) return this.#finalize(repository, signal);
    const noGroup = this.#options.groups.problem(held.metadata.namespace);
    if (noGroup) {
      await this.#report(repository, afterError(noGroup));
      throw noGroup;
    }
    await addFinalizer(this.#options.client, REPOSITORY, repository);
    const found: Partial<RepositoryStatus> = {};
    const wasReadable = isKnownReadable(repository);
    try {
      if (problem) throw problem;
      const reports = wasReadable ? [] : await this.#check(repository, found);
      return await this.#sync(repository, { reports, fields: found }, signal);
    } catch (cause) {
      const error = reportedError(cause);
      // The cluster failed, not the repository.
      if (isUnavailable(error) || isConflict(error)) throw error;
      await this.#report(repository, afterError(error), found);
      // Credentials, the host or the administrator's settings may be fixed without a change of the Repository.
      if (error instanceof Stalled) return { requeueAfterMs: wasReadable ? newRefusalRecheckMs : refusalRecheckMs };
      throw error;
    }
  }

  /** Checks that the repository can be read, and throws if not; `found` receives what is reported in either case. */
  async #check(repository: Repository, found: Partial<RepositoryStatus>): Promise<ConditionReport[]> {
    const { hosts, sync } = this.#options;
    found.sshPublicKey = await hosts.sshPublicKey(repository);
    const host = await hosts.of(repository);
    found.url = host.webUrl;
    const capabilities = await sync.check(repository, host);
    found.hostRepository = await sameHostRepository(repository.status, host);
    return ready('Readable', readableMessage(capabilities));
  }

  /**
   * Synchronizes if due. `checked`: the result of the check, which is reported together with the listing if that is
   * due.
   */
  async #sync(repository: Repository, checked: Reported, signal: AbortSignal): Promise<ReconcileResult> {
    const { sync, webhooks } = this.#options;
    if (repository.spec.suspend === true) {
      await this.#report(repository, [...checked.reports, suspendedReport()], checked.fields);
      sync.dueNext(repository);
      return {};
    }
    const waitMs = sync.waitMs(repository);
    const awaited = waitMs > 0 ? this.#awaitedReports(repository, waitMs) : [];
    const isNews = checked.reports.length > 0 || awaited.length > 0 || hasNewInputReport(repository);
    if (waitMs > 0 && isNews) await this.#report(repository, [...checked.reports, ...awaited], checked.fields);
    const isWebhookDue = waitMs === 0 || webhooks.isDue(repository);
    const recheckAfterMs = isWebhookDue ? await this.#ensureWebhook(repository) : Infinity;
    if (waitMs > 0) return { requeueAfterMs: Math.min(waitMs, recheckAfterMs) };
    const { reports, fields } = await this.#synchronise(repository, signal);
    await this.#report(repository, [...checked.reports, ...reports], { ...checked.fields, ...fields });
    return { requeueAfterMs: Math.max(1, Math.min(sync.waitMs(repository), recheckAfterMs)) };
  }

  /** Returns when the first sync is due, if that is not reported yet. */
  #awaitedReports({ status }: Repository, waitMs: number): ConditionReport[] {
    const synced = findCondition(status?.conditions, 'Synced');
    if (synced && synced.status !== 'Unknown') return [];
    const report = awaitedReport(this.#options.now().getTime() + waitMs);
    return synced?.message === report.message ? [] : [report];
  }

  /** Synchronizes the environments. Throws the host's refusal, which makes the Repository not ready. */
  async #synchronise(repository: Repository, signal: AbortSignal): Promise<Reported> {
    const host = await this.#options.hosts.of(repository);
    try {
      const outcome = await this.#options.sync.run(repository, host, signal);
      if (!outcome) return { reports: [], fields: {} };
      return { reports: [syncedReport(outcome.plan, outcome.gapMs)], fields: this.#synced(repository, outcome) };
    } catch (error) {
      if (!(error instanceof SourceUnreachableError) && !isRefusedByCluster(error)) throw error;
      return { reports: [unsyncedReport(error)], fields: {} };
    }
  }

  /** Creates the webhook; returns in how many milliseconds to reconcile it again, if before the next sync. */
  async #ensureWebhook(repository: Repository): Promise<number> {
    const reported = await this.#options.webhooks.ensure(repository);
    if (reported) await this.#report(repository, [reported.report], { webhook: reported.webhook });
    return reported?.recheckAfterMs ?? Infinity;
  }

  /** Returns the status fields of a sync: the refs, and when they last changed. */
  #synced({ status }: Repository, { plan, request, changed }: SyncOutcome): Partial<RepositoryStatus> {
    const { at, ...before } = status?.sync ?? {};
    const isNews = changed || request !== undefined || !isDeepStrictEqual(before, plan.counts);
    return {
      sync: { ...plan.counts, at: isNews || at === undefined ? this.#options.now().toISOString() : at },
      ...(request !== undefined && { handledRequests: { sync: request } }),
    };
  }

  async #report(
    repository: Repository,
    reports: ConditionReport[],
    fields: Partial<RepositoryStatus> = {},
  ): Promise<void> {
    const observedGeneration = repository.metadata.generation ?? 0;
    const { status } = repository;
    const input = inputReports(REPOSITORY_REQUESTS, repository);
    const conditions = mergeConditions(
      input.before,
      [...reports, ...input.reports],
      observedGeneration,
      this.#options.now(),
    );
    await this.#options.statuses.write(repository, { ...status, ...fields, observedGeneration, conditions });
  }

  async #finalize(repository: Repository, signal: AbortSignal): Promise<ReconcileResult> {
    const { client, environments, sync, webhooks } = this.#options;
    const mine = environments.byIndex('repository', keyOf(repository));
    if (mine.length > 0) {
      const left = await sync.removeAll(repository, mine, signal);
      await this.#report(repository, terminating('the repository is being deleted, with its environments'));
      return { requeueAfterMs: left > 0 ? 1 : removalRecheckMs };
    }
    sync.forget(repository);
    await webhooks.remove(repository);
    await removeFinalizer(client, REPOSITORY, repository);
    return {};
  }
}

function reportedError(error: unknown): unknown {
  if (error instanceof HostBusyError)
    return new Waiting('HostBusy', error.message, error.retryAfterMs, { cause: error });
  if (error instanceof SourceRefusedError) return new Stalled(error.reason, error.message, { cause: error });
  return userMustAct(error);
}

/** Returns whether the cluster refused an Environment: by a quota, an admission webhook, or missing permissions. */
function isRefusedByCluster(error: unknown): boolean {
  return error instanceof ApiError && !isUnavailable(error) && !isConflict(error);
}

function isKnownReadable({ metadata, spec, status }: Repository): boolean {
  const condition = findCondition(status?.conditions, 'Ready');
  const isCurrent = condition?.status === 'True' && condition.observedGeneration === metadata.generation;
  return isCurrent && status?.url !== undefined && (spec.generic !== undefined || status.hostRepository !== undefined);
}

/** Returns whether the reports on invalid requests and variables differ from the status. */
function hasNewInputReport(repository: Repository): boolean {
  const { reports, before } = inputReports(REPOSITORY_REQUESTS, repository);
  const isNew = ({ type, message }: ConditionReport) => findCondition(before, type)?.message !== message;
  return before.length < (repository.status?.conditions ?? []).length || reports.some(isNew);
}
