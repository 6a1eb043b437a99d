import { isDeepStrictEqual } from 'node:util';
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
import type { BuildingResult, BuildRecorder } from './build/build-recorder.ts';
import type { EnvironmentNamespace, NamespaceResult } from './namespace/environment-namespace.ts';
import { type Decisions, requeueForWaiting } from './lifecycle/decisions.ts';
import type { RestrictAccess } from './services/restrict-access.ts';
import type { Sleeping } from './lifecycle/sleeping.ts';
import type { KeepRunning } from './services/keep-running.ts';
import { type ContentsCondition, type ContentsField, removedContents } from './scope/contents.ts';
import { type Phase, type PhaseResult, runPhases } from './scope/phase.ts';
import type { ApprovalPhase } from './revision/approval-phase.ts';
import type { EnvironmentQuota } from './lifecycle/environment-quota.ts';
import { overridesReport } from './revision/overrides-report.ts';
import { revisionsOf } from './revision/revision.ts';
import type { RevisionPlanner } from './revision/revision-planner.ts';
import type { Publishing } from './volumes/publishing.ts';
import { EnvironmentScope, type ScopeOptions } from './scope/scope.ts';
import type { Seeding } from './volumes/seeding.ts';
import type { SetUp } from './services/set-up.ts';
import type { WakerReports } from './services/waker-reports.ts';
import type { EnvironmentStatuses } from './status/statuses.ts';

export interface EnvironmentReconcilerOptions extends ScopeOptions {
  client: Pick<ClusterClient, 'patch'>;
  environments: Pick<Informer<Environment>, 'get'>;
  groups: Pick<GroupMembership, 'problem'>;
  namespace: Pick<EnvironmentNamespace, 'adopt' | 'ensure' | 'record' | 'remove' | 'renewPullSecret'>;
  environmentQuota: Pick<EnvironmentQuota, 'take' | 'free'>;
  planner: Pick<RevisionPlanner, 'find' | 'retire' | 'bytesOf'>;
  decisions: Decisions;
  approvals: Pick<ApprovalPhase, 'run'>;
  restrictAccess: Pick<RestrictAccess, 'run'>;
  sleeping: Sleeping;
  setUp: SetUp;
  builds: BuildPhase;
  recorder: Pick<BuildRecorder, 'finish'>;
  keepRunning: KeepRunning;
  seeding: Pick<Seeding, 'end'>;
  publishing: Pick<Publishing, 'isUnderWay'>;
  wakers: Pick<WakerReports, 'forget'>;
  statuses: EnvironmentStatuses;
}

/** Node's timers are limited to 2^31 ms; a later time is reached in steps. */
const maxRequeueMs = 24 * 3600 * 1000;
const removalRecheckMs = 10_000;

/** Reconciles the cluster with an Environment, from any state (docs/reference/environment-lifecycle.md). */
export class EnvironmentReconciler {
  readonly #options: EnvironmentReconcilerOptions;
  /** Phases run in this order until one fails or returns `done`; the following ones are then skipped. */
  readonly #phases: readonly Phase[];

  constructor(options: EnvironmentReconcilerOptions) {
    const { decisions, approvals, sleeping, namespace, restrictAccess, setUp, builds, keepRunning } = options;
    this.#options = options;
    this.#phases = [
      (scope) => this.#addFinalizer(scope),
      (scope) => namespace.adopt(scope),
      (scope) => sleeping.handleRequests(scope),
      (scope) => decisions.decide(scope),
      (scope) => approvals.run(scope),
      (scope) => this.#cancelBuild(scope),
      (scope) => this.#removeContents(scope),
      (scope) => this.#requireQuota(scope),
      (scope) => namespace.ensure(scope),
      (scope) => restrictAccess.run(scope),
      (scope) => setUp.run(scope),
      (scope) => this.#isolateByTrust(scope),
      (scope) => this.#withdrawVariables(scope),
      (scope) => this.#startBuild(scope),
      (scope) => builds.replaceByTrust(scope),
      (scope) => sleeping.decide(scope),
      (scope) => this.#renewPullSecret(scope),
      (scope) => builds.advance(scope),
      (scope) => keepRunning.run(scope),
    ];
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#options.environments.get(key);
    if (!found) return this.#gone(key);
    const { object: environment, problem } = parseObject(environmentSchema, found);
    const start = new EnvironmentScope(environment, this.#options);
    if (found.metadata.deletionTimestamp) return this.#finalize(start);
    const noGroup = this.#options.groups.problem(found.metadata.namespace);
    if (noGroup) return this.#belongsNowhere(start, noGroup);
    const scope = start.with({
      conditions: {
        [REQUESTS_VALID]: requestReport(ENVIRONMENT_REQUESTS, environment.metadata.annotations),
        // The condition of former overrides; the status reports those that there are.
        ...(!overridesReport(environment.spec.overrides, start) && { Overridden: undefined }),
      },
    });
    if (problem) return this.#end(scope, { failure: problem });
    if (environment.spec.suspend !== true) return this.#end(scope, await this.#runPhases(scope));
    await this.#options.statuses.writeSuspended(scope);
    await this.#cleanUp(scope);
    return {};
  }

  #runPhases(scope: EnvironmentScope): Promise<PhaseResult> {
    // The stored bytes are part of every write: recorded only at the end, they would need a write of their own.
    const write = async (current: EnvironmentScope) =>
      this.#options.statuses.write(await this.#withStoredBytes(current));
    return runPhases(this.#phases, scope, write);
  }

  /** Writes what the phases contributed. */
  async #end(start: EnvironmentScope, result: PhaseResult): Promise<ReconcileResult> {
    const { failure, requeueAfterMs } = result;
    const scope = await this.#withStoredBytes(start.with(result));
    await this.#options.statuses.write(scope, failure);
    await this.#cleanUp(scope);
    // A failed, waiting or stalled environment still expires.
    return {
      requeueAfterMs: requeueAfterMs === undefined ? undefined : Math.min(requeueAfterMs, maxRequeueMs),
      failure,
    };
  }

  /** An object outside of groups has no address, because addresses contain the group's name. */
  async #belongsNowhere(scope: EnvironmentScope, noGroup: Waiting): Promise<ReconcileResult> {
    await this.#options.statuses.write(scope.with({ status: { webURL: undefined } }), noGroup);
    return { failure: noGroup };
  }

  async #addFinalizer({ environment }: EnvironmentScope): Promise<PhaseResult<never, never>> {
    await addFinalizer(this.#options.client, ENVIRONMENT, environment);
    return {};
  }

  /** Records what the revisions in use store; they are read only when others are in use than before. */
  async #withStoredBytes(scope: EnvironmentScope): Promise<EnvironmentScope> {
    const { before, status } = scope;
    const kept = revisionsOf(status);
    if (!scope.isPresent || kept.length === 0) return scope;
    if (status.storedBytes !== undefined && isDeepStrictEqual(kept, revisionsOf(before))) return scope;
    return scope.with({ status: { storedBytes: await this.#options.planner.bytesOf(scope.location(), kept) } });
  }

  #requireQuota({ id }: EnvironmentScope): PhaseResult<never, never> {
    this.#options.environmentQuota.take(id);
    return {};
  }

  /** Contents that are to be deleted are not built any longer. */
  async #cancelBuild(scope: EnvironmentScope): Promise<BuildingResult> {
    if (scope.isActive) return {};
    const isExpired = scope.status.activation?.reason === 'Expired';
    const message = `the contents were deleted${isExpired ? ': their time to live is over' : ''}`;
    return this.#options.recorder.finish(scope, 'cancelled', message);
  }

  /** The pull Secret is not renewed during sleep; the pods that start now pull with it. */
  async #renewPullSecret(scope: EnvironmentScope): Promise<PhaseResult<never, never>> {
    const wakes = scope.before.sleep?.asleep === true && !scope.isAsleep;
    if (wakes) await this.#options.namespace.renewPullSecret(scope);
    return {};
  }

  /** Deletes the contents of an inactive environment. */
  async #removeContents(scope: EnvironmentScope): Promise<PhaseResult<ContentsField, ContentsCondition>> {
    if (scope.isActive) return {};
    const { namespace, environmentQuota, seeding, wakers } = this.#options;
    wakers.forget(scope.key);
    await seeding.end(scope);
    const isGone = await namespace.remove(scope);
    const result = { ...removedContents(scope.status, isGone), done: true };
    if (!isGone) return { ...result, requeueAfterMs: removalRecheckMs };
    // A rebuild creates new contents within the same quota.
    if (scope.status.activation?.rebuild !== true) environmentQuota.free(scope.id);
    return { ...result, requeueAfterMs: requeueForWaiting(scope) };
  }

  /** The trust may have just been determined; it decides which credentials pull images. */
  async #isolateByTrust(scope: EnvironmentScope): Promise<NamespaceResult> {
    return scope.fromFork === scope.before.fromFork ? {} : this.#options.namespace.ensure(scope);
  }

  /**
   * Services that run with variables although their code is no longer trusted are built again without them; tried once.
   */
  async #withdrawVariables(scope: EnvironmentScope): Promise<PhaseResult<'activation', never>> {
    const { activation, build, deployed } = scope.status;
    if (scope.isTrusted || !activation || !deployed) return {};
    const wasTrusted = findCondition(scope.before.conditions, 'Trusted')?.status === 'True';
    if (!wasTrusted && build?.revision !== deployed.revision) return {};
    const revision = await this.#options.planner.find(scope.location(), deployed.revision);
    return revision?.trusted === true ? { status: { activation: { ...activation, buildPending: true } } } : {};
  }

  /** A build waits for an approval, and while volumes are published, because its services would write to them. */
  async #startBuild(scope: EnvironmentScope): Promise<BuildingResult> {
    const { publishing, builds } = this.#options;
    const waits = publishing.isUnderWay(scope) || scope.contributed.observed.awaitsApproval === true;
    return waits ? {} : builds.startRequested(scope);
  }

  /** Removes leftovers of finished builds and records the deployed one, based on what exists. */
  async #cleanUp(scope: EnvironmentScope): Promise<void> {
    if (!scope.isPresent) return;
    if (scope.isActive) await this.#options.namespace.record(scope);
    await this.#options.builds.cleanUp(scope);
    await this.#options.planner.retire(scope.location(), scope.before, scope.status);
  }

  async #finalize(start: EnvironmentScope): Promise<ReconcileResult> {
    let scope = start;
    const { recorder, namespace, environmentQuota, seeding, client } = this.#options;
    if (start.runningBuild) {
      const cancelled = await recorder.finish(start, 'cancelled', 'the environment was deleted');
      scope = start.with(cancelled);
      await this.#options.statuses.write(scope);
    }
    this.#options.wakers.forget(scope.key);
    await seeding.end(scope);
    if (!(await namespace.remove(scope))) {
      await this.#options.statuses.write(scope);
      return { requeueAfterMs: removalRecheckMs };
    }
    environmentQuota.free(scope.id);
    await removeFinalizer(client, ENVIRONMENT, scope.environment);
    return {};
  }

  /** Also handles an environment whose finalizer somebody removed. */
  #gone(key: string): ReconcileResult {
    const { namespace = '', name } = splitKey(key);
    this.#options.wakers.forget(key);
    const group = groupOfNamespace(namespace);
    if (group !== undefined) this.#options.environmentQuota.free({ group, name });
    return {};
  }
}
