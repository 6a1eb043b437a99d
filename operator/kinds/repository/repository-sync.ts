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
import { readListing } from './ref-listing.ts';
import type { Removal } from './removal-audit.ts';
import { carryOut } from './sync-actions.ts';
import { planSync, type SyncPlan } from './sync-plan.ts';
import { SyncSchedule, type Polled } from './sync-schedule.ts';

export interface RepositorySyncOptions {
  client: Pick<ClusterClient, 'create' | 'delete' | 'patch'>;
  environments: Pick<Informer<Environment>, 'get' | 'byIndex' | 'observe'>;
  source: Pick<Source, 'listRefs' | 'commitsOf'>;
  flows: Pick<Flows, 'ofHost'>;
  /** How often refs are looked at where the Repository does not say. */
  pollSeconds: number;
  allowance: Pick<EnvironmentAllowance, 'of'>;
  /** Called with of each Environment that goes with its ref. */
  onRefGone?: ((environment: Environment) => void) | undefined;
  /** Called with of each Environment that goes, or whose contents do, without anybody having asked for that. */
  audit?: ((removal: Removal) => void) | undefined;
  now: () => Date;
}

/** A sync that came to its end. */
export interface SyncOutcome {
  plan: SyncPlan;
  /** The request that it answers. */
  request: string | undefined;
  /** Whether anything had to be done. */
  changed: boolean;
}

/** In one reconcile, so that of a repository with thousands of branches others need not wait long. */
const maxConcurrent = 500;
/**
 * Repositories that are checked or listed at once: a tenant has two of the slots and a host one. The Git process that is left
 * is for builds.
 */
const maxChecks = 3;
/** Whether a name is free by now is seen in the cache; the host is not asked. */
const nameRecheckMs = 5000;

/** Keeps each Repository's Environments in step with its refs: when it is time, or when somebody asks. */
export class RepositorySync {
  readonly #options: RepositorySyncOptions;
  readonly #schedule: SyncSchedule;
  readonly #slots = new FairSlots(maxChecks);
  /** Keys of Environments that are going, whose names a Repository, by its UID, waits for. */
  readonly #awaited = new Map<string, readonly string[]>();

  constructor(options: RepositorySyncOptions) {
    this.#options = options;
    this.#schedule = new SyncSchedule(() => options.now().getTime());
  }

  /** How long until the Repository's turn; 0: now. */
  waitMs(repository: Repository): number {
    const wait = this.#schedule.waitMs(this.#polled(repository), pendingRequest(repository));
    const awaited = this.#awaited.get(repository.metadata.uid ?? '') ?? [];
    if (awaited.length === 0) return wait;
    const isFree = awaited.some((key) => this.#options.environments.get(key) === undefined);
    return isFree ? 0 : Math.min(wait, nameRecheckMs);
  }

  /** What the host says of the credentials, asked in the Repository's turn; throws what GitHost.check does. */
  check(repository: Repository, host: GitHost): Promise<Capabilities> {
    return this.#slots.run(this.#options.flows.ofHost(repository), () => host.check());
  }

  /**
   * Brings the Environments in step. Undefined when it was not done in one go: it goes on at the next turn. Throws what
   * the host's and the API server's answers make it throw; the next try is then later.
   */
  async run(repository: Repository, host: GitHost, signal: AbortSignal): Promise<SyncOutcome | undefined> {
    const request = pendingRequest(repository);
    const events = notedPullRequests(repository.metadata.annotations);
    this.#awaited.delete(repository.metadata.uid ?? '');
    try {
      const { plan, pullRequestsError } = await this.#plan(repository, host, events);
      const isDone = await this.#carryOut(repository, plan, events, signal);
      if (pullRequestsError && (isDone || pullRequestsError instanceof HostBusyError)) throw pullRequestsError;
      this.#schedule.succeeded(this.#polled(repository), request, isDone ? undefined : 0);
      if (!isDone) return undefined;
      return { plan, request, changed: plan.create.length + plan.build.length + plan.remove.length > 0 };
    } catch (error) {
      const retryAfterMs = error instanceof HostBusyError ? error.retryAfterMs : undefined;
      this.#schedule.failed(this.#polled(repository), request, retryAfterMs);
      throw error;
    }
  }

  /** It is due as soon as it is reconciled again. */
  dueNext(repository: Repository): void {
    this.#schedule.succeeded(this.#polled(repository), undefined, 0);
  }

  /** Starts the removal of as many of these as one turn may take; returns how many are left to the next. */
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
    this.#schedule.forget(metadata.uid ?? '');
    this.#awaited.delete(metadata.uid ?? '');
  }

  #plan(
    repository: Repository,
    host: GitHost,
    events: readonly PullRequestEvent[],
  ): Promise<{ plan: SyncPlan; pullRequestsError: SourceUnreachableError | undefined }> {
    const { source, environments: cache, allowance } = this.#options;
    const { metadata, spec } = repository;
    const { namespace = '', name } = metadata;
    return this.#slots.run(this.#options.flows.ofHost(repository), async () => {
      const environments = cache.byIndex('repository', objectKey(namespace, name));
      const listing = await readListing(source, host, environments);
      // Asked afterwards: what was listed is then of the repository that was known before.
      await sameHostRepository(repository.status, host);
      const isTaken = (wanted: string) => {
        const other = cache.get(objectKey(namespace, wanted));
        return other !== undefined && other.spec.repository !== name;
      };
      const plan = planSync({
        repository: name,
        spec,
        listing,
        events,
        environments,
        isTaken,
        maxEnvironments: allowance.of(repository),
      });
      return { plan, pullRequestsError: listing.pullRequestsError };
    });
  }

  /** Whether nothing is left of it but what waits for a name, which holds up nothing else. */
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

  /** Of events that were seen to; false when the Repository has changed since, perhaps by another event of the same. */
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

/** The request to look at the refs that was not answered yet, by its value. */
function pendingRequest({ metadata, status }: Repository): string | undefined {
  const asked = metadata.annotations?.[requestAnnotation(SYNC_REQUEST)];
  return asked === status?.handledRequests?.sync ? undefined : asked;
}
