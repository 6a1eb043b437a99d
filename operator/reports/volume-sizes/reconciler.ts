import type { Environment } from '../../../crds/environment.ts';
import { idOf } from '../../../crds/ids.ts';
import { LABELS } from '../../../crds/labels.ts';
import { environmentNamespace } from '../../../crds/environment-address.ts';
import { isAlreadyExists, isForbidden, isNotFound } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { Job, type PersistentVolumeClaim, type Pod } from '../../../kubernetes/resource-type.ts';
import { ownedLabels } from '../../kinds/environment/scope/owned-labels.ts';
import type { StatusWriter } from '../../shared/status-writer.ts';
import { jobState, podsOfJob } from '../../services/objects/job.ts';
import { isNamedVolume } from '../../services/objects/volumes.ts';
import { measuredBytes, measureJob, measureJobName } from './measure-job.ts';
import type { Scheduling } from '../../shared/scheduling.ts';

export interface SizesReconcilerOptions {
  client: Pick<ClusterClient, 'create' | 'delete'>;
  environments: Pick<Informer<Environment>, 'get'>;
  jobs: Pick<Informer<Job>, 'byIndex' | 'observe'>;
  pods: Pick<Informer<Pod>, 'byIndex'>;
  volumeClaims: Pick<Informer<PersistentVolumeClaim>, 'byIndex'>;
  /** Writes only the status field `volumes`. */
  statuses: Pick<StatusWriter<Environment>, 'write'>;
  /** Coppice's own image. */
  image: string;
  /** Where pods of environments run. */
  scheduling?: Scheduling | undefined;
  now: () => Date;
}

/** A pod's termination message arrives within this time after its Job has ended, or not at all. */
const lastWordMs = 10_000;

type Measured = 'pending' | number;

/** Measures an Environment's volumes once after each build that became ready, one at a time. */
export class SizesReconciler {
  readonly #options: SizesReconcilerOptions;

  constructor(options: SizesReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const environment = this.#options.environments.get(key);
    if (!environment || environment.metadata.deletionTimestamp !== undefined) return {};
    const { status, metadata } = environment;
    const build = status?.deployed?.number;
    if (build !== undefined && status?.volumes?.build === build) return {};
    const namespace = namespaceOf(environment);
    const claims = build === undefined ? [] : this.#claimsOf(namespace, metadata.uid);
    if (build === undefined || claims.length === 0) {
      if (status?.volumes) await this.#write(environment, undefined);
      return {};
    }
    // Measuring would mount the volumes; a sleeping environment has no pods.
    if (status?.sleep?.asleep === true) return {};
    return this.#measure(environment, namespace, claims, build);
  }

  async #measure(
    environment: Environment,
    namespace: string,
    claims: readonly PersistentVolumeClaim[],
    build: number,
  ): Promise<ReconcileResult> {
    const jobs = this.#jobsIn(namespace);
    await this.#remove(jobs.filter(({ metadata }) => metadata.labels?.[LABELS.measuredBuild] !== String(build)));
    let usedBytes = 0;
    for (const claim of claims) {
      const job = jobs.find(({ metadata }) => metadata.name === measureJobName(claim, build));
      if (!job) {
        await this.#start(environment, claim, build);
        return {};
      }
      const measured = this.#result(job);
      if (measured === 'pending') return jobState(job) === 'running' ? {} : { requeueAfterMs: lastWordMs };
      usedBytes += measured;
    }
    await this.#write(environment, { build, usedBytes });
    await this.#remove(this.#jobsIn(namespace));
    return {};
  }

  async #start(environment: Environment, claim: PersistentVolumeClaim, build: number): Promise<void> {
    const { client, jobs, image, scheduling } = this.#options;
    const { uid = '' } = environment.metadata;
    const labels = ownedLabels({ ...idOf(environment), uid });
    try {
      jobs.observe(await client.create(Job, measureJob({ claim, build, labels, image, scheduling })));
    } catch (error) {
      // The contents are being deleted, or the watch will report the conflicting object.
      if (!isAlreadyExists(error) && !isForbidden(error) && !isNotFound(error)) throw error;
    }
  }

  /** Returns the result. A failed measurement is repeated only after the next build. */
  #result(job: Job): Measured {
    const state = jobState(job);
    if (state === 'running') return 'pending';
    const bytes = measuredBytes(podsOfJob(this.#options.pods, job)[0]);
    if (bytes !== undefined) return bytes;
    const end = Date.parse(job.status?.completionTime ?? '');
    return state === 'completed' && this.#options.now().getTime() - end < lastWordMs ? 'pending' : 0;
  }

  /** Returns the bound claims: mounting an unbound one would create a volume. */
  #claimsOf(namespace: string, uid: string | undefined): PersistentVolumeClaim[] {
    return this.#options.volumeClaims
      .byIndex('namespace', namespace)
      .filter(({ metadata, status }) => metadata.labels?.[LABELS.environmentUid] === uid && status?.phase === 'Bound')
      .filter(({ metadata }) => isNamedVolume(metadata.name) && metadata.deletionTimestamp === undefined)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  #jobsIn(namespace: string): Job[] {
    const jobs = this.#options.jobs.byIndex('namespace', namespace);
    return jobs.filter(({ metadata }) => metadata.labels?.[LABELS.measuredBuild] !== undefined);
  }

  async #remove(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) await deleteObject(this.#options.client, Job, job);
  }

  async #write(environment: Environment, volumes: NonNullable<Environment['status']>['volumes']): Promise<void> {
    await this.#options.statuses.write(environment, { volumes }).catch((error: unknown) => {
      // The Environment has been deleted meanwhile.
      if (!isNotFound(error)) throw error;
    });
  }
}

function namespaceOf(environment: Environment): string {
  return environmentNamespace(idOf(environment));
}
