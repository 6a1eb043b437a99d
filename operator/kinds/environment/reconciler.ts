import { findCondition } from '../../../crds/conditions.ts';
import { ENVIRONMENT, environmentSchema, type Environment } from '../../../crds/environment.ts';
import { groupOfNamespace } from '../../../crds/ids.ts';
import { ENVIRONMENT_REQUESTS } from '../../../crds/requests.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { splitKey } from '../../../kubernetes/resource-type.ts';
import { REQUESTS_VALID, requestReport } from '../../shared/conditions.ts';
import type { Waiting } from '../../shared/errors.ts';
import { addFinalizer, removeFinalizer } from '../../shared/finalizer.ts';
import type { GroupMembership } from '../group/group-membership.ts';
import { parseObject } from '../../shared/parse-object.ts';
import type { BuildPhase } from './build/build-phase.ts';
import type { EnvironmentNamespace } from './namespace/environment-namespace.ts';
import { type Decisions, requeueForWaiting } from './lifecycle/decisions.ts';
import type { KeepRunning } from './services/keep-running.ts';
import { type Phase, type PhaseResult, runPhases } from './scope/phase.ts';
import type { EnvironmentQuota } from './lifecycle/environment-quota.ts';
import type { RevisionPlanner } from './revision/revision-planner.ts';
import type { Publishing } from './volumes/publishing.ts';
import { EnvironmentScope, type ScopeOptions } from './scope/scope.ts';
import type { Seeding } from './volumes/seeding.ts';
import type { SetUp } from './set-up.ts';
import type { EnvironmentStatuses } from './status/statuses.ts';

export interface EnvironmentReconcilerOptions extends ScopeOptions {
  client: Pick<ClusterClient, 'patch'>;
  environments: Pick<Informer<Environment>, 'get'>;
  groups: Pick<GroupMembership, 'problem'>;
  namespace: Pick<EnvironmentNamespace, 'ensure' | 'record' | 'remove'>;
  environmentQuota: Pick<EnvironmentQuota, 'take' | 'free'>;
  planner: Pick<RevisionPlanner, 'find' | 'retire'>;
  decisions: Decisions;
  setUp: SetUp;
  builds: BuildPhase;
  keepRunning: KeepRunning;
  seeding: Pick<Seeding, 'end'>;
  publishing: Pick<Publishing, 'isUnderWay'>;
  statuses: EnvironmentStatuses;
}

/** Node's timers are limited to 2^31 ms; a later time is reached in steps. */
const maxRequeueMs = 24 * 3600 * 1000;
const removalRecheckMs = 10_000;

/** Reconciles the cluster with an Environment, from any state (docs/reference/environment-lifecycle.md). */
export class EnvironmentReconciler {
  readonly #options: EnvironmentReconcilerOptions;
  /** Run in this order; a phase that is done, or an error, ends the reconcile. */
  readonly #phases: readonly Phase[];

  constructor(options: EnvironmentReconcilerOptions) {
    const { decisions, namespace, setUp, builds, keepRunning } = options;
    this.#options = options;
    this.#phases = [
      (scope) => this.#addFinalizer(scope),
      (scope) => decisions.decide(scope),
      (scope) => this.#removeContents(scope),
      (scope) => this.#requireQuota(scope),
      (scope) => namespace.ensure(scope),
      (scope) => setUp.run(scope),
      (scope) => this.#isolateByTrust(scope),
      (scope) => this.#withdrawVariables(scope),
      (scope, { planned }) => this.#startBuild(scope, planned),
      (scope) => builds.advance(scope),
      (scope) => keepRunning.run(scope),
    ];
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#options.environments.get(key);
    if (!found) return this.#gone(key);
    const { object: environment, problem } = parseObject(environmentSchema, found);
    const scope = new EnvironmentScope(environment, this.#options);
    if (found.metadata.deletionTimestamp) return this.#finalize(scope);
    const noGroup = this.#options.groups.problem(found.metadata.namespace);
    if (noGroup) return this.#belongsNowhere(scope, noGroup);
    const requests = requestReport(ENVIRONMENT_REQUESTS, environment.metadata.annotations);
    if (requests) scope.conditions.add(requests);
    else scope.conditions.drop(REQUESTS_VALID);
    if (!problem && environment.spec.suspend === true) {
      await this.#options.statuses.writeSuspended(scope);
      await this.#cleanUp(scope);
      return {};
    }
    const { failure, requeueAfterMs } = problem ? { failure: problem } : await runPhases(this.#phases, scope);
    await this.#options.statuses.write(scope, failure);
    await this.#cleanUp(scope);
    // A failed, waiting or stalled environment still expires.
    return {
      requeueAfterMs: requeueAfterMs === undefined ? undefined : Math.min(requeueAfterMs, maxRequeueMs),
      failure,
    };
  }

  /** An address contains the group's name, so there is none. */
  async #belongsNowhere(scope: EnvironmentScope, noGroup: Waiting): Promise<ReconcileResult> {
    delete scope.status.webURL;
    await this.#options.statuses.write(scope, noGroup);
    return { failure: noGroup };
  }

  async #addFinalizer({ environment }: EnvironmentScope): Promise<PhaseResult> {
    await addFinalizer(this.#options.client, ENVIRONMENT, environment);
    return {};
  }

  #requireQuota({ id }: EnvironmentScope): PhaseResult {
    this.#options.environmentQuota.take(id);
    return {};
  }

  /** Deletes the contents of an environment that is to have none. */
  async #removeContents(scope: EnvironmentScope): Promise<PhaseResult> {
    if (scope.isActive) return {};
    const { builds, namespace, environmentQuota, seeding } = this.#options;
    await builds.finish(scope, 'cancelled', 'the contents were deleted');
    await seeding.end(scope);
    scope.removed(await namespace.remove(scope));
    if (scope.isPresent) return { done: true, requeueAfterMs: removalRecheckMs };
    // A rebuild creates new contents within the same quota.
    if (scope.status.activation?.rebuild !== true) environmentQuota.free(scope.id);
    return { done: true, requeueAfterMs: requeueForWaiting(scope) };
  }

  /** The trust may have just been determined; it decides which credentials pull images. */
  async #isolateByTrust(scope: EnvironmentScope): Promise<PhaseResult> {
    return scope.status.fromFork === scope.before.fromFork ? {} : this.#options.namespace.ensure(scope);
  }

  /**
   * Services that run with variables although their code is no longer trusted are built again without them; tried once.
   */
  async #withdrawVariables(scope: EnvironmentScope): Promise<PhaseResult> {
    const { activation, build, deployed } = scope.status;
    if (scope.isTrusted || !activation || !deployed) return {};
    const wasTrusted = findCondition(scope.before.conditions, 'Trusted')?.status === 'True';
    if (!wasTrusted && build?.revision !== deployed.revision) return {};
    const revision = await this.#options.planner.find(scope.location(), deployed.revision);
    if (revision?.trusted === true) scope.status.activation = { ...activation, buildPending: true };
    return {};
  }

  /** A build waits while volumes are published, because its services would write to them. */
  async #startBuild(scope: EnvironmentScope, planned: PhaseResult['planned']): Promise<PhaseResult> {
    const { publishing, builds } = this.#options;
    return publishing.isUnderWay(scope) ? {} : builds.startRequested(scope, planned);
  }

  /** Removes leftovers of finished builds and records the deployed one, based on what exists. */
  async #cleanUp(scope: EnvironmentScope): Promise<void> {
    if (!scope.isPresent) return;
    if (scope.isActive) await this.#options.namespace.record(scope);
    await this.#options.builds.cleanUp(scope);
    await this.#options.planner.retire(scope.location(), scope.before, scope.status);
  }

  async #finalize(scope: EnvironmentScope): Promise<ReconcileResult> {
    const { builds, namespace, environmentQuota, seeding, client } = this.#options;
    if (scope.runningBuild) {
      await builds.finish(scope, 'cancelled', 'the environment was deleted');
      await this.#options.statuses.write(scope);
    }
    await seeding.end(scope);
    if (!(await namespace.remove(scope))) return { requeueAfterMs: removalRecheckMs };
    environmentQuota.free(scope.id);
    await removeFinalizer(client, ENVIRONMENT, scope.environment);
    return {};
  }

  /** Also handles an environment whose finalizer somebody removed. */
  #gone(key: string): ReconcileResult {
    const { namespace = '', name } = splitKey(key);
    const group = groupOfNamespace(namespace);
    if (group !== undefined) this.#options.environmentQuota.free({ group, name });
    return {};
  }
}
