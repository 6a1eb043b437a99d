import type { BuildStatus } from '../../../../crds/environment-build.ts';
import type { ImageRegistry } from '../../../../crds/image-name.ts';
import { PULL_SECRET } from '../../../images/build/credentials.ts';
import { reportStopped, withoutReplicas } from './stopped-services.ts';
import type { WorkloadInput } from '../../../services/objects/input.ts';
import type { WorkloadSet } from '../../../services/rollout/workload-set.ts';
import type { Masking } from '../status/masking.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import { notRunning, rolledOut, stopping, type ServicesResult, type StoppedResult } from './service-reports.ts';
import type { WakerReports } from './waker-reports.ts';
import { imagesToBe, type Revision } from '../revision/revision.ts';

export interface ServicesOptions {
  workloads: Pick<WorkloadSet, 'setUp' | 'rollOut' | 'stop' | 'prune' | 'front'>;
  registry: ImageRegistry;
  masking: Masking;
  wakers: Pick<WakerReports, 'asleep' | 'rollingOut'>;
  /** Whether visits of an environment are watched for. */
  visitsOf: (scope: EnvironmentScope) => WorkloadInput['visits'];
}

/** Sets up an environment's services, rolls them out, and reports them in its status. */
export class Services {
  readonly #workloads: ServicesOptions['workloads'];
  readonly #registry: ImageRegistry;
  readonly #masking: Masking;
  readonly #wakers: ServicesOptions['wakers'];
  readonly #visitsOf: ServicesOptions['visitsOf'];

  constructor({ workloads, registry, masking, wakers, visitsOf }: ServicesOptions) {
    this.#workloads = workloads;
    this.#registry = registry;
    this.#masking = masking;
    this.#wakers = wakers;
    this.#visitsOf = visitsOf;
  }

  /** Sets up everything that the revision's services need, without running them. */
  async setUp(scope: EnvironmentScope, revision: Revision): Promise<ServicesResult> {
    const images = imagesToBe(revision, this.#registry, scope.repository);
    return notRunning(await this.#workloads.setUp(this.#input(scope, revision, images)));
  }

  /** Runs the services with a build's images, except those to be stopped; called again until they are ready. */
  async rollOut(scope: EnvironmentScope, revision: Revision, build: BuildStatus): Promise<ServicesResult> {
    const { stopped = new Set() } = scope.contributed.observed;
    const input = this.#inputOf(scope, withoutReplicas(revision, stopped), build);
    const reported = await this.#workloads.rollOut(input);
    this.#wakers.rollingOut(scope, reported, () => this.#workloads.front(input));
    const progress = await this.#masking.progress(scope, revision, reportStopped(reported, stopped));
    return rolledOut(scope.status.services, progress, scope.now);
  }

  /** Stops the services; called again until none runs. */
  async stop(scope: EnvironmentScope, revision: Revision, build: BuildStatus): Promise<StoppedResult> {
    const input = this.#inputOf(scope, revision, build);
    const stopped = await this.#workloads.stop(input);
    this.#wakers.asleep(scope, stopped.services, this.#workloads.front(input));
    return stopping(stopped);
  }

  /** Deletes what the revision does not contain. */
  prune(scope: EnvironmentScope, revision: Revision, build?: BuildStatus): Promise<void> {
    return this.#workloads.prune(this.#inputOf(scope, revision, build));
  }

  #inputOf(scope: EnvironmentScope, revision: Revision, build?: BuildStatus): WorkloadInput {
    const images = new Map(build?.images?.map(({ service, image }) => [service, image]));
    return this.#input(scope, revision, images, build);
  }

  #input(
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
      visits: this.#visitsOf(scope),
      run: String(build?.number ?? ''),
      imagePullSecrets: [PULL_SECRET],
      now: scope.now,
      ...(build?.rolloutStartedAt !== undefined &&
        build.result === 'running' && { rolloutSince: new Date(build.rolloutStartedAt) }),
    };
  }
}
