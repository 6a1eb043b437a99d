import type { BuildStatus } from '../../../../crds/environment.ts';
import type { ImageRegistry } from '../../../../crds/image-name.ts';
import { PULL_SECRET } from '../../../images/build/credentials.ts';
import { reportStopped, withoutReplicas } from './stopped-services.ts';
import type { WorkloadInput } from '../../../services/objects/input.ts';
import type { WorkloadSet } from '../../../services/rollout/workload-set.ts';
import type { Masking } from '../status/masking.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { notRunning, rolledOut, type ServicesResult } from './service-reports.ts';
import { imagesToBe, type Revision } from '../revision/revision.ts';

/** Sets up an environment's services, rolls them out, and reports them in its status. */
export class Services {
  readonly #workloads: WorkloadSet;
  readonly #registry: ImageRegistry;
  readonly #masking: Masking;

  constructor(workloads: WorkloadSet, registry: ImageRegistry, masking: Masking) {
    this.#workloads = workloads;
    this.#registry = registry;
    this.#masking = masking;
  }

  /** Sets up everything that the revision's services need, without running them. */
  async setUp(scope: EnvironmentScope, revision: Revision): Promise<ServicesResult> {
    const images = imagesToBe(revision, this.#registry, scope.repository);
    return notRunning(await this.#workloads.setUp(workloadInput(scope, revision, images)));
  }

  /** Runs the services with a build's images, except those to be stopped; called again until they are ready. */
  async rollOut(scope: EnvironmentScope, revision: Revision, build: BuildStatus): Promise<ServicesResult> {
    const { stopped = new Set() } = scope.contributed.observed;
    const reported = await this.#workloads.rollOut(inputOf(scope, withoutReplicas(revision, stopped), build));
    const progress = await this.#masking.progress(scope, revision, reportStopped(reported, stopped));
    return rolledOut(scope.status.services, progress, scope.now);
  }

  /** Deletes what the revision does not contain. */
  prune(scope: EnvironmentScope, revision: Revision, build?: BuildStatus): Promise<void> {
    return this.#workloads.prune(inputOf(scope, revision, build));
  }
}

function inputOf(scope: EnvironmentScope, revision: Revision, build?: BuildStatus): WorkloadInput {
  const images = new Map(build?.images?.map(({ service, image }) => [service, image]));
  return workloadInput(scope, revision, images, build);
}

function workloadInput(
  scope: EnvironmentScope,
  revision: Revision,
  images: ReadonlyMap<string, string>,
  build?: BuildStatus,
): WorkloadInput {
  return {
    namespace: scope.namespace,
    labels: scope.labels,
    id: scope.id,
    access: scope.access.mode,
    serviceFile: revision.serviceFile,
    images,
    own: revision.own,
    hidden: new Map(Object.entries(revision.hidden ?? {})),
    run: String(build?.number ?? ''),
    imagePullSecrets: [PULL_SECRET],
    now: scope.now,
    ...(build?.rolloutStartedAt !== undefined &&
      build.result === 'running' && { rolloutSince: new Date(build.rolloutStartedAt) }),
  };
}
