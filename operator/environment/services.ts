import type { BuildStatus } from '../../crds/environment.ts';
import type { ImageRegistry } from '../../crds/names.ts';
import { PULL_SECRET } from '../build/credentials.ts';
import { tellStopped, withoutReplicas } from '../reusable/stopped-services.ts';
import type { WorkloadInput } from '../workloads/input.ts';
import type { RolloutProgress } from '../workloads/progress.ts';
import type { WorkloadSet } from '../workloads/workload-set.ts';
import type { Masking } from './masking.ts';
import type { EnvironmentScope } from './scope.ts';
import { RESTARTS_MS } from './service-reports.ts';
import { imagesToBe, type Version } from './version.ts';

/** An environment's services: set up, rolled out, and told of in its status. */
export class Services {
  readonly #workloads: WorkloadSet;
  readonly #registry: ImageRegistry;
  readonly #masking: Masking;

  constructor(workloads: WorkloadSet, registry: ImageRegistry, masking: Masking) {
    this.#workloads = workloads;
    this.#registry = registry;
    this.#masking = masking;
  }

  /** Everything that the version's services need, none of them running. */
  async setUp(scope: EnvironmentScope, version: Version): Promise<void> {
    const images = imagesToBe(version, this.#registry, scope.repository);
    scope.services.notRunning(await this.#workloads.setUp(workloadInput(scope, version, images)));
  }

  /** Runs what a build has made, but for what is `stopped`; to be called again as its services come up. */
  async rollOut(
    scope: EnvironmentScope,
    version: Version,
    build: BuildStatus,
    stopped: ReadonlySet<string> = new Set(),
  ): Promise<RolloutProgress> {
    const said = await this.#workloads.rollOut(inputOf(scope, withoutReplicas(version, stopped), build));
    const progress = await this.#masking.progress(scope, version, tellStopped(said, stopped));
    if (scope.services.rolledOut(progress, scope.now)) scope.lookAgainIn(RESTARTS_MS);
    return progress;
  }

  /** Removes what the version does not name. */
  prune(scope: EnvironmentScope, version: Version, build?: BuildStatus): Promise<void> {
    return this.#workloads.prune(inputOf(scope, version, build));
  }
}

function inputOf(scope: EnvironmentScope, version: Version, build?: BuildStatus): WorkloadInput {
  const images = new Map(build?.images?.map(({ service, image }) => [service, image]));
  return workloadInput(scope, version, images, build);
}

function workloadInput(
  scope: EnvironmentScope,
  version: Version,
  images: ReadonlyMap<string, string>,
  build?: BuildStatus,
): WorkloadInput {
  return {
    namespace: scope.namespace,
    labels: scope.labels,
    id: scope.id,
    serviceFile: version.serviceFile,
    images,
    run: String(build?.number ?? ''),
    imagePullSecrets: [PULL_SECRET],
    now: scope.now,
    ...(build?.rolloutStartedAt !== undefined &&
      build.result === 'running' && { rolloutSince: new Date(build.rolloutStartedAt) }),
  };
}
