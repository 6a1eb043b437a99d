import { ENVIRONMENT, environmentSchema, type Environment } from '../../crds/environment.ts';
import { environmentUrl } from '../../crds/names.ts';
import { isInvalid } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { ReconcileResult } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { Stalled } from '../errors.ts';
import { SourceUnreachableError } from '../source/errors.ts';
import { addFinalizer, removeFinalizer } from '../finalizer.ts';
import type { RepositoryAccess } from '../repository/access.ts';
import { decideActivation } from './activation.ts';
import type { BuildRun } from './build-run.ts';
import type { Contents } from './contents.ts';
import type { Planner } from './planner.ts';
import type { Removal } from './removal.ts';
import { EnvironmentScope } from './scope.ts';
import type { EnvironmentSettings } from './settings.ts';
import { deriveState } from './state.ts';
import type { StatusWriter } from '../status-writer.ts';
import { summarize } from './summary.ts';
import { imagesByTag, type Version } from './version.ts';
import type { VersionStore } from './version-store.ts';
import type { WorkloadSet } from './workload-set.ts';
import type { WorkloadInput } from './workloads.ts';
import { PULL_SECRET } from '../build/credentials.ts';

export interface EnvironmentParts {
  client: ClusterClient;
  environments: Informer<Environment>;
  repositories: RepositoryAccess;
  contents: Contents;
  planner: Planner;
  versions: VersionStore;
  workloads: WorkloadSet;
  builds: BuildRun;
  removal: Removal;
  statuses: StatusWriter<Environment>;
  settings: EnvironmentSettings;
  now: () => Date;
}

/** A later expiry is looked at again on the way: Node's timers end at 2^31 ms. */
const longestWaitMs = 24 * 3600 * 1000;
const removalRecheckMs = 10_000;

/** Makes the cluster as an Environment wants it, from whatever is there (docs/environments.md). */
export class EnvironmentReconciler {
  readonly #parts: EnvironmentParts;

  constructor(parts: EnvironmentParts) {
    this.#parts = parts;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#parts.environments.get(key);
    if (!found) return {};
    const { environment, problem } = parseEnvironment(found);
    const scope = new EnvironmentScope(environment, this.#parts.settings, this.#parts.now);
    if (found.metadata.deletionTimestamp) return this.#finalize(scope);
    const failure = problem ?? (await this.#bring(scope).catch(userMustAct));
    await this.#writeStatus(scope, failure);
    await this.#cleanUpBuilds(scope);
    const requeueAfterMs = scope.nextLookMs(longestWaitMs);
    // What is stalled until the user acts still has its expiry.
    if (failure instanceof Stalled && requeueAfterMs !== undefined) return { requeueAfterMs };
    if (failure !== undefined) throw failure as Error;
    return { requeueAfterMs };
  }

  async #bring(scope: EnvironmentScope): Promise<void> {
    const { contents } = this.#parts;
    await addFinalizer(this.#parts.client, ENVIRONMENT, scope.environment);
    if (await this.#decide(scope)) return;
    if (!scope.isActive) {
      await this.#empty(scope);
      return;
    }
    await contents.ensure(scope);
    await this.#setUp(scope);
    await this.#startPendingBuild(scope);
    await this.#runBuild(scope);
    await this.#keepRunning(scope);
  }

  /** Takes the events since the last look. True when they take the object itself away. */
  async #decide(scope: EnvironmentScope): Promise<boolean> {
    const { removal, settings } = this.#parts;
    const { spec, metadata } = scope.environment;
    const decision = decideActivation({
      isPresent: scope.isPresent,
      spec,
      annotations: metadata.annotations,
      status: scope.status,
      now: scope.now,
    });
    if (decision.ended && (await removal.removeObjectIfShared(scope.environment))) return true;
    const { activation, ttl, expiresAt, handledRequests, began, ended } = decision;
    if (began) scope.forgetContents();
    const webURL = environmentUrl(settings.environmentsUrl, scope.id);
    // Told at once when something was decided; otherwise a write here would only be taken back by the one at the end.
    if (scope.take({ activation, ttl, expiresAt, handledRequests, webURL })) await this.#writeStatus(scope);
    if (began || ended) scope.lookAgainForRequests();
    return false;
  }

  async #empty(scope: EnvironmentScope): Promise<void> {
    const { builds, contents } = this.#parts;
    await builds.finish(scope, 'cancelled', 'the contents were removed');
    scope.isPresent = !(await contents.remove(scope));
    if (scope.isPresent) scope.lookAgainIn(removalRecheckMs);
    else {
      scope.forgetContents();
      scope.lookAgainForRequests();
    }
  }

  /** Finds out what the ref's commit says and sets its services up, none of them running yet. */
  async #setUp(scope: EnvironmentScope): Promise<void> {
    const { planner, workloads, builds } = this.#parts;
    if (scope.status.commit !== undefined) return;
    const earlier = scope.earlierRefusal('Created');
    if (earlier && !scope.isBuildPending) throw new Stalled(earlier.reason, earlier.message);
    await this.#lookUpRepository(scope);
    try {
      const version = await planner.plan(scope.planRequest());
      const input = this.#workloadInput(scope, version, this.#tags(scope, version));
      await workloads.setUp(input);
      scope.notRunning(input);
      scope.planned(version);
      await this.#writeStatus(scope);
    } catch (cause) {
      const error = userMustAct(cause);
      if (!(error instanceof Stalled)) throw error;
      scope.report('Created', 'False', error.reason, error.message);
      if (scope.isBuildPending) {
        await builds.start(scope, undefined);
        await builds.finish(scope, 'failed', error.message, error.reason);
      }
      throw error;
    }
  }

  /** A build asked for while one runs joins it, or takes its place when the ref has moved since. */
  async #startPendingBuild(scope: EnvironmentScope): Promise<void> {
    const { builds } = this.#parts;
    if (!scope.isBuildPending) return;
    await this.#lookUpRepository(scope);
    const running = builds.running(scope);
    if (running) {
      const commit = await this.#newestCommit(scope);
      if (commit === undefined || running.commit === undefined || running.commit === commit) {
        builds.join(scope);
        return;
      }
      await builds.finish(scope, 'superseded', `the ref has moved on to ${commit.slice(0, 12)}`);
    }
    await builds.start(scope, scope.commitJustPlanned);
    await this.#writeStatus(scope);
  }

  /** Undefined where the Git host does not say: a running build must not wait for that. */
  async #newestCommit(scope: EnvironmentScope): Promise<string | undefined> {
    try {
      return await this.#parts.planner.newestCommit(scope.planRequest());
    } catch (error) {
      if (error instanceof Stalled || error instanceof SourceUnreachableError) return undefined;
      throw error;
    }
  }

  /** Where the code is and how it is read; asked for only where it is needed. */
  async #lookUpRepository(scope: EnvironmentScope): Promise<void> {
    scope.access ??= await this.#parts.repositories.access(scope.repository);
  }

  async #runBuild(scope: EnvironmentScope): Promise<void> {
    const { builds, versions, workloads } = this.#parts;
    if (!builds.running(scope)) return;
    try {
      if (!builds.images(scope)) await this.#lookUpRepository(scope);
      const version = await this.#versionToBuild(scope);
      if (!builds.images(scope)) {
        if (!(await builds.buildImages(scope, version))) return;
        await this.#writeStatus(scope);
      }
      const input = this.#workloadInput(scope, version, builds.images(scope) ?? new Map());
      const progress = await workloads.rollOut(input);
      scope.rolledOut(progress);
      if (!progress.done) {
        builds.checkRolloutDeadline(scope, progress.waitingFor, this.#parts.settings.rolloutDeadlineSeconds);
        return;
      }
      await workloads.prune(input);
      await versions.removeOthers(scope.place(), version.commit);
      await builds.finish(scope, 'succeeded', `all ${progress.services.length} services run`);
    } catch (cause) {
      const error = userMustAct(cause);
      if (!(error instanceof Stalled)) throw error;
      await builds.finish(scope, 'failed', error.message, error.reason);
    }
  }

  async #versionToBuild(scope: EnvironmentScope): Promise<Version> {
    const { builds, planner, versions } = this.#parts;
    const build = builds.running(scope);
    const known = build?.commit === undefined ? undefined : await versions.find(scope.place(), build.commit);
    const version = known ?? (await planner.plan(scope.planRequest()));
    if (build?.commit !== version.commit) {
      builds.takeCommit(scope, version.commit);
      scope.planned(version);
    }
    return version;
  }

  /** Outside a build: what came up last keeps running, as it was; before the first, services stay set up. */
  async #keepRunning(scope: EnvironmentScope): Promise<void> {
    const { builds, versions, workloads } = this.#parts;
    if (builds.running(scope)) return;
    const { deployed } = scope.status;
    const commit = deployed?.commit ?? scope.status.commit;
    const version = commit === undefined ? undefined : await versions.find(scope.place(), commit);
    if (!version) return;
    if (deployed) {
      const images = new Map(deployed.images?.map(({ service, image }) => [service, image]));
      const input = this.#workloadInput(scope, version, images);
      scope.rolledOut(await workloads.rollOut(input));
      await workloads.prune(input);
    } else {
      const input = this.#workloadInput(scope, version, this.#tags(scope, version));
      await workloads.setUp(input);
      await workloads.prune(input);
      scope.notRunning(input);
    }
  }

  /** Jobs of builds that are over end, and their credentials go; told by the Jobs that are there, whoever left them. */
  async #cleanUpBuilds(scope: EnvironmentScope): Promise<void> {
    if (scope.isPresent) await this.#parts.builds.cleanUp(scope);
  }

  async #finalize(scope: EnvironmentScope): Promise<ReconcileResult> {
    const { builds, contents, client } = this.#parts;
    if (builds.running(scope)) {
      await builds.finish(scope, 'cancelled', 'the environment was deleted');
      await this.#writeStatus(scope);
    }
    if (!(await contents.remove(scope))) return { requeueAfterMs: removalRecheckMs };
    await removeFinalizer(client, ENVIRONMENT, scope.environment);
    return {};
  }

  async #writeStatus(scope: EnvironmentScope, error?: unknown): Promise<void> {
    const { builds, statuses } = this.#parts;
    const building = builds.running(scope) !== undefined;
    const deployed = scope.status.deployed !== undefined;
    scope.status.state = deriveState({ present: scope.isPresent, building, deployed });
    for (const report of summarize(scope.summaryInput(error))) scope.add(report);
    await statuses.write(scope.environment, scope.finalStatus());
  }

  #tags(scope: EnvironmentScope, version: Version): Map<string, string> {
    return imagesByTag(version, this.#parts.settings.registry, scope.repository);
  }

  #workloadInput(scope: EnvironmentScope, version: Version, images: ReadonlyMap<string, string>): WorkloadInput {
    const { ingressClassName } = this.#parts.settings;
    return {
      namespace: scope.namespace,
      labels: scope.labels,
      serviceFile: version.serviceFile,
      images,
      host: scope.host,
      ingressClassName,
      imagePullSecret: PULL_SECRET,
    };
  }
}

/** An object that does not fit its schema is told so, and can still be deleted. */
function parseEnvironment(object: Environment): { environment: Environment; problem?: Stalled } {
  const parsed = environmentSchema.safeParse(object);
  const { apiVersion, kind } = object;
  if (parsed.success) return { environment: { ...parsed.data, apiVersion, kind } };
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  return { environment: structuredClone(object), problem: new Stalled('Invalid', faults) };
}

/** What the API server refuses for good, only somebody's change can mend. */
function userMustAct(error: unknown): unknown {
  if (!isInvalid(error)) return error;
  return new Stalled('Refused', `Kubernetes refuses it: ${error.statusMessage}`, { cause: error });
}
