import { findCondition } from '../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../crds/environment.ts';
import { environmentUrl } from '../../crds/names.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { refIndexValue } from '../caches.ts';
import type { Reusables } from '../reusable/reusables.ts';
import type { RepositoryConfigurations } from '../repository/configuration.ts';
import { decideActivation } from './activation.ts';
import { isOldestOfItsRef } from './clones.ts';
import type { Contents } from './contents.ts';
import type { Removal } from './removal.ts';
import { isDue, scheduleOf, type Schedule } from './schedule.ts';
import type { EnvironmentScope } from './scope.ts';
import type { EnvironmentStatuses } from './statuses.ts';

export interface DecisionsParts {
  environments: Pick<Informer<Environment>, 'byIndex'>;
  configurations: Pick<RepositoryConfigurations, 'defaultTtlSeconds' | 'scheduledRebuild'>;
  contents: Pick<Contents, 'adopt'>;
  reusables: Pick<Reusables, 'published'>;
  removal: Pick<Removal, 'removeObject'>;
  statuses: EnvironmentStatuses;
  /** Environments answer at `<label>.<host>` of this. */
  environmentsUrl: URL;
}

/** What is overdue and could not be done is not tried over and over. */
const shortestWaitMs = 1000;

/** Takes what was asked for, or fell due, since the last look at an Environment. */
export class Decisions {
  readonly #parts: DecisionsParts;

  constructor(parts: DecisionsParts) {
    this.#parts = parts;
  }

  /** Records in the status whether contents are wanted from now on. True when the object itself is taken away. */
  async take(scope: EnvironmentScope): Promise<boolean> {
    const { removal, configurations, contents, statuses, environmentsUrl } = this.#parts;
    const { spec, metadata } = scope.environment;
    const isNew = scope.status.activation === undefined;
    if (isNew) contents.adopt(scope);
    const timetable = this.#schedule(scope);
    const { activation, ttl, schedule, expiresAt, handledRequests, began, ended } = decideActivation({
      defaultTtlSeconds: configurations.defaultTtlSeconds(scope.repository),
      schedule: timetable,
      takesPart: () => this.#takesPart(scope),
      isNew,
      isPresent: scope.isPresent,
      spec,
      annotations: metadata.annotations,
      status: scope.status,
      now: scope.now,
    });
    if (ended && (await removal.removeObject(scope.environment, { refIsMissing: neverFoundItsRef(scope.before) }))) {
      return true;
    }
    if (began) scope.forgetContents();
    scope.webURL = environmentUrl(environmentsUrl, scope.id);
    const webURL = scope.isSetUp && scope.status.webURL === undefined ? undefined : scope.webURL;
    // Told at once when something was decided; otherwise a write here would only be taken back by the one at the end.
    if (scope.take({ activation, ttl, schedule, expiresAt, handledRequests, webURL })) await statuses.write(scope);
    if (began || ended) scope.lookAgainForWaiting();
    if (expiresAt !== undefined) this.#lookAgainAt(scope, new Date(expiresAt));
    if (timetable && activation.active && isDue(timetable, schedule, activation.since) && this.#takesPart(scope))
      this.#lookAgainAt(scope, timetable.begins);
    return false;
  }

  #lookAgainAt(scope: EnvironmentScope, time: Date): void {
    scope.lookAgainIn(Math.max(shortestWaitMs, time.getTime() - scope.now.getTime()));
  }

  #schedule(scope: EnvironmentScope): Schedule | undefined {
    if (!scope.isActive) return undefined;
    const schedule = scheduleOf(this.#parts.configurations.scheduledRebuild(scope.repository), scope.uid, scope.now);
    if (schedule) scope.lookAgainIn(schedule.next.getTime() - scope.now.getTime());
    return schedule;
  }

  /** Mode `notclones`: of the environments of one ref the oldest alone; `reusables`: those that are published. */
  #takesPart(scope: EnvironmentScope): boolean {
    const { configurations, environments } = this.#parts;
    const { repository, environment } = scope;
    const mode = configurations.scheduledRebuild(repository)?.mode;
    if (mode === 'reusables') return this.#isPublished(scope);
    if (mode !== 'notclones') return true;
    return isOldestOfItsRef(environment, environments.byIndex('ref', refIndexValue(environment)));
  }

  /** Whether its label stands for what came from it: a try that failed, a label that is deleted or another's, is none. */
  #isPublished({ repository, status: { publication }, uid }: EnvironmentScope): boolean {
    if (!publication) return false;
    return this.#parts.reusables.published(repository, publication.label)?.status?.from?.environmentUID === uid;
  }
}

/** Whether there never were contents because the Git host has no such ref: a name that somebody mistyped. */
function neverFoundItsRef({ conditions, commit, deployed, builds = [] }: EnvironmentStatus): boolean {
  if (findCondition(conditions, 'Created')?.reason !== 'RefNotFound') return false;
  return commit === undefined && deployed === undefined && builds.every((build) => build.commit === undefined);
}
