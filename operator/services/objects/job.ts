import { LABELS } from '../../../crds/labels.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Job, Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { imageOf, type WorkloadContext } from './input.ts';
import { objectMeta } from './object-meta.ts';
import { podTemplate } from './pod-template.ts';

/** Of a service's name that long is in its job's; the hash distinguishes those that start alike. */
const maxInName = 50;

/**
 * The same for the same build, and for nothing else: made of what runs, not of how Coppice puts that in Kubernetes, or
 * a new Coppice would run every job again.
 */
export function jobName(context: WorkloadContext, service: Service): string {
  const { name, entrypoint, command, environment } = service;
  const what = [context.run, imageOf(context, service), entrypoint, command, environment];
  if (name.length > maxInName) what.push(name);
  return `${name.slice(0, maxInName)}-${hashOf(what).slice(0, 12)}`;
}

/** A service that runs once: to its end, and again only where its node or its pod was taken away. */
export function job(context: WorkloadContext, service: Service): Job {
  const template = podTemplate(context, service, { drainSeconds: 0, restartPolicy: 'Never' });
  const meta = objectMeta(context, jobName(context, service));
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...meta, labels: { ...meta.labels, [LABELS.service]: service.name } },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: context.settings.jobDeadlineSeconds,
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      template,
    },
  };
}

/** The Job controller's label on the pods of a Job. */
const jobNameLabel = 'batch.kubernetes.io/job-name';

/** A Job's pods, from a cache of pods. */
export function podsOfJob(pods: Pick<Informer<Pod>, 'byIndex'>, { metadata: { namespace = '', name } }: Job): Pod[] {
  return pods.byIndex('namespace', namespace).filter(({ metadata }) => metadata.labels?.[jobNameLabel] === name);
}

export type JobState = 'running' | 'completed' | 'failed';

export function jobState({ status }: Job): JobState {
  const isTrue = (type: string) => status?.conditions?.some((one) => one.type === type && one.status === 'True');
  if (isTrue('Complete')) return 'completed';
  return isTrue('Failed') ? 'failed' : 'running';
}

/**
 * When a job has completed, or must have ended at the latest: at its deadline. Undefined while none of its pods has
 * started: what keeps them from that is not work of the job's.
 */
export function jobEnd({ spec, status }: Job, pods: readonly Pod[]): Date | undefined {
  if (status?.completionTime !== undefined) return new Date(status.completionTime);
  const isEnding = status?.conditions?.some(({ type }) => ['SuccessCriteriaMet', 'FailureTarget'].includes(type));
  const hasStarted = isEnding === true || pods.some((pod) => (pod.status?.phase ?? 'Pending') !== 'Pending');
  if (!hasStarted || status?.startTime === undefined || spec?.activeDeadlineSeconds === undefined) return undefined;
  return new Date(new Date(status.startTime).getTime() + spec.activeDeadlineSeconds * 1000);
}
