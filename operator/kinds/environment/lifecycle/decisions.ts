import { findCondition } from '../../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import type { Informer } from '../../../../kubernetes/informer.ts';
import { refIndexValue } from '../../../shared/environment-keys.ts';
import type { Reusables } from '../../reusable/reusables.ts';
import type { RepositoryConfigurations } from '../../repository/configuration.ts';
import { awaitsEarlierRequest, decideActivation } from './activation.ts';
import { isOldestOfItsRef } from './clones.ts';
import { type ContentsCondition, type ContentsField, forgottenContents } from '../scope/contents.ts';
import { type PhaseResult, soonest } from '../scope/phase.ts';
import type { Removal } from './removal.ts';
import { isDue, scheduleOf, type Schedule } from './schedule.ts';
import type { EnvironmentScope } from '../scope/scope.ts';

export interface DecisionsOptions {
  environments: Pick<Informer<Environment>, 'byIndex'>;
  configurations: Pick<RepositoryConfigurations, 'defaultTtlSeconds' | 'scheduledRebuild'>;
  reusables: Pick<Reusables, 'published'>;
  removal: Pick<Removal, 'removeObject'>;
}

const decidedFields = ['activation', 'ttl', 'schedule', 'expiresAt', 'handledRequests', 'webURL'] as const;
type DecidedField = (typeof decidedFields)[number];
type DecisionResult = PhaseResult<DecidedField | ContentsField, ContentsCondition>;

/** An overdue decision that could not be applied is not retried continuously. */
const minWaitMs = 1000;

/** Applies requests and due times since the last reconcile of an Environment. */
export class Decisions {
  readonly #options: DecisionsOptions;

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  /** Decides whether contents are wanted; done when the object itself is deleted. */
  async decide(scope: EnvironmentScope): Promise<DecisionResult> {
    const { removal, configurations } = this.#options;
    const { spec, metadata } = scope.environment;
    const timetable = this.#schedule(scope);
    const { started, ended, ...decision } = decideActivation({
      defaultTtlSeconds: configurations.defaultTtlSeconds(scope.repository),
      schedule: timetable,
      takesPart: () => this.#takesPart(scope),
      isNew: scope.before.activation === undefined,
      isPresent: scope.isPresent,
      spec,
      annotations: metadata.annotations,
      status: scope.status,
      now: scope.now,
    });
    if (ended && (await removal.removeObject(scope.environment, { refIsMissing: neverFoundItsRef(scope.before) }))) {
      return { done: true };
    }
    const forgotten = started ? forgottenContents(scope.status) : {};
    const current = scope.with(forgotten);
    const webURL = current.isSetUp && current.status.webURL === undefined ? undefined : scope.webURL;
    const schedule = this.#withNext(scope, decision, timetable);
    const decided = { ...decision, schedule, webURL };
    const waiting = started || ended ? requeueForWaiting(current.with({ status: decided })) : undefined;
    return {
      ...forgotten,
      status: { ...forgotten.status, ...decided },
      // Otherwise the write at the end of the reconcile is enough.
      write: isNews(current.status, decided),
      requeueAfterMs: soonest(waiting, this.#nextDueMs(scope, decision, timetable)),
    };
  }

  /** Returns in how many milliseconds the next decision is due. */
  #nextDueMs(
    scope: EnvironmentScope,
    { activation, schedule, expiresAt }: Pick<EnvironmentStatus, 'activation' | 'schedule' | 'expiresAt'>,
    timetable: Schedule | undefined,
  ): number | undefined {
    const until = (time: Date) => time.getTime() - scope.now.getTime();
    const isRebuildDue = timetable && activation?.active && isDue(timetable, schedule, activation.since);
    return soonest(
      timetable && until(timetable.next),
      expiresAt === undefined ? undefined : Math.max(minWaitMs, until(new Date(expiresAt))),
      isRebuildDue && this.#takesPart(scope) ? Math.max(minWaitMs, until(timetable.starts)) : undefined,
    );
  }

  /** Returns the observed schedule, with when it rebuilds this environment next. */
  #withNext(
    scope: EnvironmentScope,
    { activation, schedule }: Pick<EnvironmentStatus, 'activation' | 'schedule'>,
    timetable: Schedule | undefined,
  ): EnvironmentStatus['schedule'] {
    if (!schedule || !timetable) return schedule;
    const { setting, since } = schedule;
    const isWanted = activation?.active === true || activation?.rebuild === true;
    if (!isWanted || !this.#takesPart(scope)) return { setting, since };
    // An overdue rebuild that must still wait keeps its time, so that the status does not change.
    const due = timetable.starts > scope.now ? timetable.starts : timetable.last;
    const next = isDue(timetable, schedule, activation.since) ? due : timetable.next;
    return { setting, since, next: next.toISOString() };
  }

  #schedule(scope: EnvironmentScope): Schedule | undefined {
    if (!scope.isActive) return undefined;
    return scheduleOf(this.#options.configurations.scheduledRebuild(scope.repository), scope.uid, scope.now);
  }

  /** Contents that could not be built again, because a commit waits for an approval, are kept. Mode `notclones`: only the oldest environment of a ref; `reusables`: those that are published. */
  #takesPart(scope: EnvironmentScope): boolean {
    const { configurations, environments } = this.#options;
    const { repository, environment, status } = scope;
    if (status.approval?.waitingCommit !== undefined) return false;
    const mode = configurations.scheduledRebuild(repository)?.mode;
    if (mode === 'reusables') return this.#isPublished(scope);
    if (mode !== 'notclones') return true;
    return isOldestOfItsRef(environment, environments.byIndex('ref', refIndexValue(environment)));
  }

  /**
   * Whether its label refers to its publication: not after a failed publication, or if the label is deleted or belongs
   * to another environment.
   */
  #isPublished({ repository, status: { publication }, uid }: EnvironmentScope): boolean {
    if (!publication) return false;
    return this.#options.reusables.published(repository, publication.label)?.status?.from?.environmentUID === uid;
  }
}

/** Whether a decision changes the status. */
function isNews(status: Readonly<EnvironmentStatus>, decided: Pick<EnvironmentStatus, DecidedField>): boolean {
  return decidedFields.some((field) => JSON.stringify(status[field]) !== JSON.stringify(decided[field]));
}

/**
 * Whether the environment never had contents because its ref does not exist at the Git host, for example a mistyped
 * name.
 */
function neverFoundItsRef({ conditions, commit, deployed, builds = [] }: EnvironmentStatus): boolean {
  if (findCondition(conditions, 'Created')?.reason !== 'RefNotFound') return false;
  return commit === undefined && deployed === undefined && builds.every((build) => build.commit === undefined);
}

/**
 * Returns in how many milliseconds a request is decided that waited for the former contents to be deleted, or for
 * another decision.
 */
export function requeueForWaiting({ environment: { metadata, spec }, status }: EnvironmentScope): number | undefined {
  return awaitsEarlierRequest({ spec, annotations: metadata.annotations, status }) ? 1 : undefined;
}
