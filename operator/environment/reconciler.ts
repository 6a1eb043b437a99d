import { findCondition } from '../../crds/conditions.ts';
import { ENVIRONMENT, environmentSchema, type Environment } from '../../crds/environment.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { ReconcileResult } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { ENVIRONMENT_REQUESTS } from '../../crds/requests.ts';
import { splitKey } from '../../kubernetes/resource-type.ts';
import { REQUESTS_VALID, requestReport } from '../conditions.ts';
import { Stalled, type Waiting } from '../errors.ts';
import { addFinalizer, removeFinalizer } from '../finalizer.ts';
import type { GroupMembership } from '../group/group-membership.ts';
import type { RepositoryConfigurations } from '../repository/configuration.ts';
import { parseObject } from '../parse-object.ts';
import type { Building } from './building.ts';
import type { BuildRun } from './build-run.ts';
import type { Contents } from './contents.ts';
import type { Decisions } from './decisions.ts';
import type { Reusing } from '../reusable/reusing.ts';
import type { Masking } from './masking.ts';
import type { Places } from './places.ts';
import type { Planning } from './planning.ts';
import { EnvironmentScope } from './scope.ts';
import type { Services } from './services.ts';
import type { EnvironmentStatuses } from './statuses.ts';
import { userMustAct } from './user-must-act.ts';

export interface EnvironmentParts {
  client: ClusterClient;
  environments: Informer<Environment>;
  configurations: Pick<RepositoryConfigurations, 'registryAccess'>;
  groups: Pick<GroupMembership, 'problem'>;
  contents: Contents;
  places: Pick<Places, 'take' | 'free'>;
  planning: Planning;
  services: Services;
  masking: Masking;
  builds: BuildRun;
  building: Building;
  decisions: Decisions;
  reusing: Pick<Reusing, 'seed' | 'breakOffSeed' | 'holdsBuilds' | 'publish' | 'giveUp' | 'end'>;
  statuses: EnvironmentStatuses;
  now: () => Date;
}

/** A later expiry is looked at again on the way: Node's timers end at 2^31 ms. */
const longestWaitMs = 24 * 3600 * 1000;
const removalRecheckMs = 10_000;
const versionUnknown =
  'what runs was set up by another version of Coppice and is left as it is: ask for a build to bring it up to date';

/** Makes the cluster as an Environment wants it, from whatever is there (docs/environments.md). */
export class EnvironmentReconciler {
  readonly #parts: EnvironmentParts;

  constructor(parts: EnvironmentParts) {
    this.#parts = parts;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#parts.environments.get(key);
    if (!found) return this.#gone(key);
    const { object: environment, problem } = parseObject(environmentSchema, found);
    const scope = new EnvironmentScope(environment, this.#parts.now);
    scope.trustForks = this.#parts.configurations.registryAccess(scope.repository).trustForks;
    if (found.metadata.deletionTimestamp) return this.#finalize(scope);
    const noGroup = this.#parts.groups.problem(found.metadata.namespace);
    if (noGroup) return this.#belongsNowhere(scope, noGroup);
    const requests = requestReport(ENVIRONMENT_REQUESTS, environment.metadata.annotations);
    if (requests) scope.conditions.add(requests);
    else scope.conditions.drop(REQUESTS_VALID);
    if (!problem && environment.spec.suspend === true) {
      await this.#parts.statuses.writeSuspended(scope);
      await this.#cleanUp(scope);
      return {};
    }
    const failure = problem ?? (await this.#bring(scope).catch(userMustAct));
    await this.#parts.statuses.write(scope, failure);
    await this.#cleanUp(scope);
    // What failed, waits, or is stalled until the user acts, still has its expiry.
    return { requeueAfterMs: scope.nextLookMs(longestWaitMs), failure };
  }

  /** An address is made of the group's name, so there is none. */
  async #belongsNowhere(scope: EnvironmentScope, noGroup: Waiting): Promise<ReconcileResult> {
    delete scope.status.webURL;
    await this.#parts.statuses.write(scope, noGroup);
    return { failure: noGroup };
  }

  async #bring(scope: EnvironmentScope): Promise<void> {
    const { client, decisions, places, contents, building, reusing } = this.#parts;
    await addFinalizer(client, ENVIRONMENT, scope.environment);
    if (await decisions.take(scope)) return;
    if (!scope.isActive) {
      await this.#empty(scope);
      return;
    }
    places.take(scope.id);
    await contents.ensure(scope);
    await this.#setUp(scope);
    // Where its code comes from may have been found out just now, and decides what images are pulled with.
    if (scope.status.fromFork !== scope.before.fromFork) await contents.ensure(scope);
    await this.#withdrawRights(scope);
    if (!reusing.holdsBuilds(scope)) await building.startPending(scope);
    await building.advance(scope);
    await this.#keepRunning(scope);
  }

  async #empty(scope: EnvironmentScope): Promise<void> {
    const { builds, contents, places, reusing } = this.#parts;
    await builds.finish(scope, 'cancelled', 'the contents were removed');
    await reusing.end(scope);
    scope.isPresent = !(await contents.remove(scope));
    if (scope.isPresent) scope.lookAgainIn(removalRecheckMs);
    else {
      if (!scope.comesAgain) places.free(scope.id);
      scope.forgetContents();
      scope.lookAgainForWaiting();
    }
  }

  /** Finds out what the ref's commit says and sets its services up, none of them running yet. */
  async #setUp(scope: EnvironmentScope): Promise<void> {
    const { planning, services, builds, masking, reusing, statuses } = this.#parts;
    if (scope.isSetUp) return;
    const earlier = scope.earlierRefusal('Created');
    // It was said by a Coppice that did not wait for one.
    const stands = earlier && earlier.reason !== 'RepositoryNotFound';
    if (stands && !scope.isBuildPending) throw new Stalled(earlier.reason, earlier.message);
    try {
      const version = await planning.plan(scope);
      await reusing.seed(scope, version);
      await services.setUp(scope, version);
      scope.planned(version);
      await statuses.write(scope);
    } catch (cause) {
      const refusal = userMustAct(cause);
      if (!(refusal instanceof Stalled)) throw refusal;
      await reusing.breakOffSeed(scope);
      const error = await masking.stalled(scope, undefined, refusal);
      scope.conditions.report('Created', 'False', error.reason, error.message);
      if (scope.isBuildPending) {
        await builds.start(scope, undefined);
        await builds.fail(scope, error);
      }
      throw error;
    }
  }

  /** What runs with variables though its code is not trusted any more is built anew without them; tried once. */
  async #withdrawRights(scope: EnvironmentScope): Promise<void> {
    const { activation, build, deployed } = scope.status;
    if (scope.isTrusted || !activation || !deployed) return;
    const wasTrusted = findCondition(scope.before.conditions, 'Trusted')?.status === 'True';
    if (!wasTrusted && build?.version !== deployed.version) return;
    const version = await this.#parts.planning.find(scope, deployed.version);
    if (version?.trusted === true) scope.status.activation = { ...activation, buildPending: true };
  }

  /** Outside a build: what came up last keeps running, as it was; before the first, services stay set up. */
  async #keepRunning(scope: EnvironmentScope): Promise<void> {
    const { planning, services, reusing } = this.#parts;
    if (scope.runningBuild) return;
    const { deployed } = scope.status;
    const version = await planning.find(scope, deployed?.version ?? scope.status.version);
    if (!version) reusing.giveUp(scope);
    if (!version && deployed) throw new Stalled('VersionUnknown', versionUnknown);
    if (!version) return;
    if (deployed) await services.rollOut(scope, version, deployed, await reusing.publish(scope, version));
    else await services.setUp(scope, version);
    await services.prune(scope, version, deployed);
  }

  /** What builds that are over left goes, and the one that came up is remembered; told by what is there, whoever left it. */
  async #cleanUp(scope: EnvironmentScope): Promise<void> {
    if (!scope.isPresent) return;
    if (scope.isActive) await this.#parts.contents.record(scope);
    await this.#parts.builds.cleanUp(scope);
    await this.#parts.planning.retireOthers(scope);
  }

  async #finalize(scope: EnvironmentScope): Promise<ReconcileResult> {
    const { builds, contents, places, reusing, client } = this.#parts;
    if (scope.runningBuild) {
      await builds.finish(scope, 'cancelled', 'the environment was deleted');
      await this.#parts.statuses.write(scope);
    }
    await reusing.end(scope);
    if (!(await contents.remove(scope))) return { requeueAfterMs: removalRecheckMs };
    places.free(scope.id);
    await removeFinalizer(client, ENVIRONMENT, scope.environment);
    return {};
  }

  /** Also of one whose finalizer somebody took away. */
  #gone(key: string): ReconcileResult {
    const { namespace = '', name } = splitKey(key);
    const group = groupOfNamespace(namespace);
    if (group !== undefined) this.#parts.places.free({ group, name });
    return {};
  }
}
