import type { Environment } from '../../../crds/environment.ts';
import { gitRefKey } from '../../../crds/git-ref.ts';
import {
  notedPullRequests,
  type NotedPullRequestEvent,
  type PullRequestEvent,
} from '../../../crds/pull-request-events.ts';
import { REPOSITORY, type Repository } from '../../../crds/repository.ts';
import { requestAnnotation, SYNC_REQUEST } from '../../../crds/requests.ts';
import { FairSlots } from '../../../fair-queue/fair-slots.ts';
import { isConflict } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey } from '../../../kubernetes/resource-type.ts';
import type { Flows } from '../../source/hosts/flows.ts';
import type { Capabilities, GitHost } from '../../source/hosts/host.ts';
import { HostBusyError, type SourceUnreachableError } from '../../source/errors.ts';
import type { Source } from '../../source/git/source.ts';
import { sameHostRepository } from './host-repository.ts';
import type { EnvironmentAllowance } from './environment-allowance.ts';
import { decideRefs, listedRefs } from './ref-decisions.ts';
import { readListing } from './ref-listing.ts';
import type { RefSnapshots } from './ref-snapshots.ts';
import type { Removal } from './removal-audit.ts';
import { carryOut } from './sync-actions.ts';
import { planSync, type SyncPlan } from './sync-plan.ts';
import { SyncSchedule, type Polled } from './sync-schedule.ts';

export interface RepositorySyncOptions {
  client: Pick<ClusterClient, 'create' | 'delete' | 'patch'>;
  environments: Pick<Informer<Environment>, 'get' | 'byIndex' | 'observe'>;
  repositories: Pick<Informer<Repository>, 'get'>;
  source: Pick<Source, 'listRefs' | 'listingWaitMs' | 'commitsOf'>;
  flows: Pick<Flows, 'ofHost'>;
  /** Interval of listing refs for Repositories that set none, in seconds. */
  pollSeconds: number;
  allowance: Pick<EnvironmentAllowance, 'of'>;
  /** Maximum number of environments of forks with contents that rules create in each Repository. */
  maxForkEnvironments: number;
  /** Where the listed refs are kept for dry runs of rules. */
  snapshots?: Pick<RefSnapshots, 'write' | 'forget'> | undefined;
  /** Called with each Environment that is deleted with its ref. */
  onRefGone?: ((environment: Environment) => void) | undefined;
  /** Called with each Environment that is removed, or whose contents are, without a direct request. */
  audit?: ((removal: Removal) => void) | undefined;
  now: () => Date;
}

/** The result of a completed sync. */
export interface SyncOutcome {
  plan: SyncPlan;
  /** The request that the sync handles. */
  request: string | undefined;
  /** Whether the sync changed anything. */
  changed: boolean;
  /** Minimum time until the refs are listed again, because listing them is expensive; 0 if it is cheap. */
  gapMs: number;
}

/**
 * Maximum number of changes in one reconcile, so that a repository with thousands of branches does not block others.
 */
const maxConcurrent = 500;
/**
 * Maximum number of Repositories that are checked or listed concurrently: a tenant can use two slots, a host one. The
 * remaining Git process is for builds.
 */
const maxChecks = 3;
/** Share of one processor that the rules of a Repository can use, as of a list (operator/source/git/listing-costs.ts). */
const decisionShare = 0.05;
/** Delay before a taken name is checked again in the cache, in milliseconds. */
const nameRecheckMs = 5000;

/** Synchronizes each Repository's Environments with its refs, periodically and on request. */
export class RepositorySync {
  readonly #options: RepositorySyncOptions;
  readonly #schedule: SyncSchedule;
  readonly #slots = new FairSlots(maxChecks);
  /** By the UID of a Repository: keys of Environments that are being deleted, whose names it waits for. */
  readonly #awaited = new Map<string, readonly string[]>();

  constructor(options: RepositorySyncOptions) {
    this.#options = options;
    this.#schedule = new SyncSchedule(() => options.now().getTime());
  }

  /** Returns the milliseconds until the Repository is due; 0 if it is due now. */
  waitMs(repository: Repository): number {
    const wait = this.#schedule.waitMs(this.#polled(repository), pendingRequest(repository));
    const awaited = this.#awaited.get(repository.metadata.uid ?? '') ?? [];
    if (awaited.length === 0) return wait;
    const isFree = awaited.some((key) => this.#options.environments.get(key) === undefined);
    return isFree ? 0 : Math.min(wait, nameRecheckMs);
  }

  /** Returns what the credentials permit at the host, when a slot is free. Throws what GitHost.check throws. */
  check(repository: Repository, host: GitHost): Promise<Capabilities> {
    return this.#slots.run(this.#options.flows.ofHost(repository), () => host.check());
  }

  /**
   * Synchronizes the Environments. Returns undefined if more is left for the next reconcile. Throws errors of the host
   * and the API server; the next attempt is then delayed.
   */
  async run(repository: Repository, host: GitHost, signal: AbortSignal): Promise<SyncOutcome | undefined> {
    const request = pendingRequest(repository);
    const events = notedPullRequests(repository.metadata.annotations);
    this.#awaited.delete(repository.metadata.uid ?? '');
    try {
      const { plan, decisionMs, pullRequestsError } = await this.#plan(repository, host, events);
      // Pull requests that were not decided on stay recorded.
      const decided = pullRequestsError ? events.filter(({ isOpen }) => !isOpen) : events;
      const isDone = await this.#carryOut(repository, plan, decided, signal);
      if (pullRequestsError && (isDone || pullRequestsError instanceof HostBusyError)) throw pullRequestsError;
      const gapMs = Math.max(this.#options.source.listingWaitMs(host.access), decisionMs / decisionShare);
      this.#schedule.succeeded(this.#polled(repository), request, isDone ? undefined : 0, gapMs);
      if (!isDone) return undefined;
      const changed = plan.create.length + plan.build.length + plan.remove.length > 0;
      return { plan, request, changed, gapMs };
    } catch (error) {
      const retryAfterMs = error instanceof HostBusyError ? error.retryAfterMs : undefined;
      this.#schedule.failed(this.#polled(repository), request, retryAfterMs);
      throw error;
    }
  }

  /** Makes the Repository due at its next reconcile. */
  dueNext(repository: Repository): void {
    this.#schedule.succeeded(this.#polled(repository), undefined, 0);
  }

  /** Starts to delete the Environments, up to the limit of one reconcile; returns how many are left. */
  removeAll(repository: Repository, environments: readonly Environment[], signal: AbortSignal): Promise<number> {
    const { client, environments: cache, audit, now } = this.#options;
    const { namespace = '', name } = repository.metadata;
    const onRemoved = (environment: Environment, what: Removal['what']) =>
      audit?.({ environment, what, repository, reason: 'RepositoryDeleted', wasRequested: false });
    const here = environments.filter((one) => one.metadata.deletionTimestamp === undefined);
    const remove = here.map((environment) => ({ environment, what: 'object' as const }));
    const plan = { create: [], build: [], remove };
    return carryOut({ client, environments: cache, onRemoved, now }, { namespace, name }, plan, {
      max: maxConcurrent,
      signal,
    });
  }

  forget({ metadata }: Repository): void {
    this.#options.snapshots?.forget(metadata.uid ?? '');
    this.#schedule.forget(metadata.uid ?? '');
    this.#awaited.delete(metadata.uid ?? '');
  }

  #plan(
    repository: Repository,
    host: GitHost,
    events: readonly PullRequestEvent[],
  ): Promise<{ plan: SyncPlan; decisionMs: number; pullRequestsError: SourceUnreachableError | undefined }> {
    const { source, environments: cache, allowance, maxForkEnvironments, snapshots } = this.#options;
    const { metadata, spec } = repository;
    const { namespace = '', name } = metadata;
    return this.#slots.run(this.#options.flows.ofHost(repository), async () => {
      const environments = cache.byIndex('repository', objectKey(namespace, name));
      const listing = await readListing(source, host, environments, spec.sync?.rules, events);
      // Checked after listing, so that the list is known to come from the same repository.
      await sameHostRepository(repository.status, host);
      const isTaken = (wanted: string) => {
        const other = cache.get(objectKey(namespace, wanted));
        return other !== undefined && other.spec.repository !== name;
      };
      const startedAt = this.#options.now().getTime();
      const refs = listedRefs(listing, events);
      const decisions = await decideRefs(spec.sync?.rules, refs);
      if (!listing.pullRequestsError) snapshots?.write(metadata.uid ?? '', refs, new Date(startedAt));
      const plan = planSync({
        repository: name,
        spec,
        listing,
        decisions,
        events,
        environments,
        includedIn: this.#includedIn(repository),
        isTaken,
        maxEnvironments: allowance.of(repository),
        maxForkEnvironments,
      });
      const decisionMs = this.#options.now().getTime() - startedAt;
      return { plan, decisionMs, pullRequestsError: listing.pullRequestsError };
    });
  }

  /** Returns the environments that include a repository. Whether new commits are built is a setting of their own one. */
  #includedIn({ metadata: { namespace, name } }: Repository): Environment[] {
    const { environments, repositories } = this.#options;
    const autoBuilds = ({ spec }: Environment) =>
      repositories.get(objectKey(namespace, spec.repository))?.spec.autoBuild !== false;
    return environments
      .byIndex('included', objectKey(namespace, name))
      .filter((one) => one.metadata.deletionTimestamp === undefined && one.spec.repository !== name && autoBuilds(one));
  }

  /** Carries out the plan; returns whether only refs that wait for a name are left, which block nothing else. */
  async #carryOut(
    repository: Repository,
    plan: SyncPlan,
    events: readonly NotedPullRequestEvent[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client, environments, onRefGone, audit, now } = this.#options;
    const wasRequested = pendingRequest(repository) !== undefined;
    const onRemoved = (environment: Environment, what: Removal['what']) => {
      if (what === 'object') onRefGone?.(environment);
      audit?.({ environment, what, repository, reason: 'RefGone', wasRequested });
    };
    const { namespace = '', name, uid = '' } = repository.metadata;
    const limits = { max: maxConcurrent, signal };
    if ((await carryOut({ client, environments, onRemoved, now }, { namespace, name }, plan, limits)) > 0) return false;
    const waiting = new Set(plan.waiting.map(({ ref }) => gitRefKey(ref)));
    const seenTo = events.filter(({ number }) => !waiting.has(gitRefKey({ type: 'pull request', name: `${number}` })));
    if (!(await this.#takeAway(repository, seenTo))) return false;
    if (waiting.size > 0)
      this.#awaited.set(
        uid,
        plan.waiting.map((one) => objectKey(namespace, one.name)),
      );
    return true;
  }

  /** Removes handled events; returns false if the Repository has changed meanwhile, perhaps by a newer event. */
  async #takeAway(repository: Repository, events: readonly NotedPullRequestEvent[]): Promise<boolean> {
    if (events.length === 0) return true;
    const { namespace, name, resourceVersion } = repository.metadata;
    const annotations = Object.fromEntries(events.map(({ annotation }) => [annotation, null]));
    try {
      const patch = { metadata: { annotations } };
      const written = await this.#options.client.patch(REPOSITORY, { namespace, name }, patch, { resourceVersion });
      repository.metadata = { ...repository.metadata, ...written.metadata };
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  #polled({ metadata, spec }: Repository): Polled {
    return {
      uid: metadata.uid ?? '',
      createdAt: new Date(metadata.creationTimestamp ?? 0),
      intervalMs: (spec.sync?.intervalSeconds ?? this.#options.pollSeconds) * 1000,
    };
  }
}

/** Returns the value of a sync request that has not been handled. */
function pendingRequest({ metadata, status }: Repository): string | undefined {
  const asked = metadata.annotations?.[requestAnnotation(SYNC_REQUEST)];
  return asked === status?.handledRequests?.sync ? undefined : asked;
}
