import { LABELS } from '../../../crds/labels.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Job, Pod } from '../../../kubernetes/resource-type.ts';
import type { Service } from '../../../service-file/schema.ts';
import { visibleProcess } from './hidden-values.ts';
import { imageOf, type WorkloadContext } from './input.ts';
import { objectMeta } from './object-meta.ts';
import { podTemplate } from './pod-template.ts';

/** Maximum length of the service's name in the job's name; the hash distinguishes longer names. */
const maxInName = 50;

/**
 * Returns a name that is unique to the build and the service. Depends only on what runs, not on the generated objects:
 * otherwise a new version of Coppice would run every job again.
 */
export function jobName(context: WorkloadContext, service: Service): string {
  const { name } = service;
  const what: unknown[] = [
    context.run,
    imageOf(context, service),
    ...visibleProcess(service, context.hidden.get(name)),
  ];
  if (name.length > maxInName) what.push(name);
  return `${name.slice(0, maxInName)}-${hashOf(what).slice(0, 12)}`;
}

/** Returns the Job of a service that runs once; it is retried only if its node or pod is removed. */
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

/** Returns a Job's pods from a cache of pods. */
export function podsOfJob(pods: Pick<Informer<Pod>, 'byIndex'>, { metadata: { namespace = '', name } }: Job): Pod[] {
  return pods.byIndex('namespace', namespace).filter(({ metadata }) => metadata.labels?.[jobNameLabel] === name);
}

export type JobState = 'running' | 'completed' | 'failed';

export function jobState({ status }: Job): JobState {
  const isTrue = (type: string) => status?.conditions?.some((one) => one.type === type && one.status === 'True');
  if (isTrue('Complete')) return 'completed';
  return isTrue('Failed') ? 'failed' : 'running';
}

/** Returns when a job completed or will be terminated by its deadline; undefined while none of its pods has started. */
export function jobEnd({ spec, status }: Job, pods: readonly Pod[]): Date | undefined {
  if (status?.completionTime !== undefined) return new Date(status.completionTime);
  const isEnding = status?.conditions?.some(({ type }) => ['SuccessCriteriaMet', 'FailureTarget'].includes(type));
  const hasStarted = isEnding === true || pods.some((pod) => (pod.status?.phase ?? 'Pending') !== 'Pending');
  if (!hasStarted || status?.startTime === undefined || spec?.activeDeadlineSeconds === undefined) return undefined;
  return new Date(new Date(status.startTime).getTime() + spec.activeDeadlineSeconds * 1000);
}
