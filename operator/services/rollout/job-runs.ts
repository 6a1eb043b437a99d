import { LABELS } from '../../../crds/labels.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey, type Job, type PersistentVolumeClaim, type Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { isJob, type WorkloadContext } from '../objects/input.ts';
import { job, jobEnd, jobName, jobState, podsOfJob } from '../objects/job.ts';
import { podRefusal } from '../diagnosis/pod-refusal.ts';
import { podDiagnosis } from '../diagnosis/pod-diagnosis.ts';
import { claimName, SEED_DONE, SEED_PENDING, seedAnnotation } from '../objects/volumes.ts';
import type { WorkloadClient, WorkloadObjects } from '../objects/workload-objects.ts';

export interface JobOutcome {
  /** Whether the job has completed, or does not have to run. */
  isUp: boolean;
  failure?: string | undefined;
  /** Why the job cannot start; may be temporary. */
  diagnosis?: string | undefined;
}

/** Runs services that run once: at each build, or for a new volume. */
export class JobRuns {
  readonly #client: Pick<WorkloadClient, 'list'>;
  readonly #jobs: WorkloadObjects<Job>;
  readonly #claims: WorkloadObjects<PersistentVolumeClaim>;
  readonly #pods: Informer<Pod>;

  constructor(
    client: Pick<WorkloadClient, 'list'>,
    jobs: WorkloadObjects<Job>,
    claims: WorkloadObjects<PersistentVolumeClaim>,
    pods: Informer<Pod>,
  ) {
    this.#client = client;
    this.#jobs = jobs;
    this.#claims = claims;
    this.#pods = pods;
  }

  /** Returns whether the service's job of this build was created, or is not needed. */
  isStarted(context: WorkloadContext, service: Service): boolean {
    if (this.#jobs.cache.get(objectKey(context.namespace, jobName(context, service)))) return true;
    return service.runs === 'once per volume' && !this.#claimToSeed(context, service);
  }

  /** Returns whether the service's job of this build has completed, or is not needed. */
  hasCompleted(context: WorkloadContext, service: Service): boolean {
    const live = this.#jobs.cache.get(objectKey(context.namespace, jobName(context, service)));
    return live ? jobState(live) === 'completed' : this.isStarted(context, service);
  }

  /** Starts the service's job of this build unless it exists; returns its progress. */
  async run(context: WorkloadContext, service: Service): Promise<JobOutcome> {
    const claim = this.#claimToSeed(context, service);
    if (service.runs === 'once per volume' && !claim) return { isUp: true };
    const name = jobName(context, service);
    if (await this.#isFormerRunLeft(context.namespace, service, name)) return { isUp: false };
    const live = await this.#jobs.createOnce(job(context, service));
    const state = jobState(live);
    if (state === 'failed') return this.#failure(live);
    if (state === 'running') return { isUp: false, diagnosis: await this.#refusal(live) };
    // After a crash before this line, the job runs again: programs that seed a volume must tolerate that.
    if (claim) await this.#claims.annotate(claim, { [seedAnnotation(service.name)]: SEED_DONE });
    return { isUp: true };
  }

  /** Returns why the Job controller created no pod for the Job, if it refused to. */
  async #refusal(live: Job): Promise<string | undefined> {
    const { startTime, active = 0, succeeded = 0, failed = 0 } = live.status ?? {};
    if (startTime === undefined || active + succeeded + failed > 0 || podsOfJob(this.#pods, live).length > 0)
      return undefined;
    return (await podRefusal(this.#client, live))?.message;
  }

  /** Returns the claim that the service has yet to seed; undefined for other services, and for a seeded volume. */
  #claimToSeed({ namespace }: WorkloadContext, { name, runs, seeds }: Service): PersistentVolumeClaim | undefined {
    if (runs !== 'once per volume' || seeds === undefined) return undefined;
    const claim = this.#claims.cache.get(objectKey(namespace, claimName(seeds)));
    return claim?.metadata.annotations?.[seedAnnotation(name)] === SEED_PENDING ? claim : undefined;
  }

  /**
   * Deletes the job of an earlier build of the service; returns whether it still exists: two jobs must not use the same
   * data.
   */
  async #isFormerRunLeft(namespace: string, service: Service, name: string): Promise<boolean> {
    const former = this.#jobs
      .in(namespace)
      .filter(({ metadata }) => metadata.labels?.[LABELS.service] === service.name && metadata.name !== name)
      .filter((one) => jobState(one) === 'running' || one.metadata.deletionTimestamp !== undefined);
    for (const one of former) await this.#jobs.delete(one, 'Foreground');
    return former.length > 0;
  }

  /** Returns when the last job of the build has ended or will be terminated; undefined if none has started. */
  lastEnd(context: WorkloadContext): Date | undefined {
    const ends = context.serviceFile.services.filter(isJob).flatMap((service) => {
      const live = this.#jobs.cache.get(objectKey(context.namespace, jobName(context, service)));
      const end = live && jobEnd(live, podsOfJob(this.#pods, live));
      return end ? [end.getTime()] : [];
    });
    return ends.length > 0 ? new Date(Math.max(...ends)) : undefined;
  }

  /** Returns the failure with the pod's termination message, which may arrive shortly after the Job has ended. */
  #failure(live: Job): JobOutcome {
    const condition = live.status?.conditions?.find(({ type }) => type === 'Failed');
    if (condition?.reason === 'DeadlineExceeded') {
      const seconds = live.spec?.activeDeadlineSeconds ?? 0;
      const remedy =
        'make it shorter, or ask an administrator to raise the limit (chart value environments.jobDeadlineSeconds)';
      return { isUp: false, failure: `it took longer than ${seconds} s and was terminated: ${remedy}` };
    }
    const pods = podsOfJob(this.#pods, live);
    const diagnosis = pods.map((pod) => podDiagnosis(pod)).find((found) => found !== undefined);
    if (diagnosis === undefined && pods.some(({ status }) => status?.phase !== 'Failed')) return { isUp: false };
    return { isUp: false, failure: `it has failed: ${diagnosis ?? condition?.message ?? 'no reason was reported'}` };
  }
}
