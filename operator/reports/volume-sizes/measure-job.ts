import { LABELS } from '../../../crds/labels.ts';
import { hashOf } from '../../../kubernetes/apply.ts';
import type { Job, PersistentVolumeClaim, Pod } from '../../../kubernetes/resource-type.ts';
import { AS_ROOT, confined, RUNS_ONCE } from '../../shared/pod-parts.ts';
import { LEAVES_SOON, scheduled, type Scheduling } from '../../shared/scheduling.ts';
import { claimLabel } from '../../services/objects/pod-template.ts';

export interface MeasureJobInput {
  claim: PersistentVolumeClaim;
  /** Number of the build after which the volume is measured. */
  build: number;
  /** Labels of all objects of the environment. */
  labels: Record<string, string>;
  /** Coppice's own image. */
  image: string;
  /** Where pods of environments run. */
  scheduling?: Scheduling | undefined;
}

const deadlineSeconds = 600;

/**
 * Measures the disk usage of the volume's files, each file once. Files that appear or disappear meanwhile are not
 * errors.
 */
const script = 'du -sxB1 -- /volume 2>/dev/null | cut -f1 > /dev/termination-log';

export function measureJobName({ metadata }: PersistentVolumeClaim, build: number): string {
  return `measure-${build}-${hashOf([metadata.name]).slice(0, 10)}`;
}

/**
 * Returns the Job that measures one volume, on the node of the pods that use it. It runs as root because it must read
 * files of any owner, but has no other capability, no network and no token, and returns one number.
 */
export function measureJob({ claim, build, labels: owned, image, scheduling }: MeasureJobInput): Job {
  const { name, namespace } = claim.metadata;
  const mark = claimLabel(name);
  const labels = { ...owned, [LABELS.measuredBuild]: String(build) };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name: measureJobName(claim, build), labels },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: deadlineSeconds,
      ttlSecondsAfterFinished: 3600,
      template: {
        metadata: { labels: { ...labels, [mark]: 'true' } },
        spec: {
          ...RUNS_ONCE,
          terminationGracePeriodSeconds: 0,
          securityContext: AS_ROOT,
          ...scheduled(scheduling, {
            tolerations: LEAVES_SOON,
            podAffinity: [
              { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { [mark]: 'true' } } },
            ],
          }),
          containers: [
            {
              name: 'measure',
              image,
              command: ['/bin/sh', '-c', script],
              volumeMounts: [{ name: 'volume', mountPath: '/volume', readOnly: true }],
              securityContext: confined('DAC_OVERRIDE'),
              resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '500m', memory: '128Mi' } },
            },
          ],
          volumes: [{ name: 'volume', persistentVolumeClaim: { claimName: name } }],
        },
      },
    },
  };
}

/** Returns the measured size in bytes; undefined if the pod did not report any. */
export function measuredBytes(pod: Pod | undefined): number | undefined {
  const reported = pod?.status?.containerStatuses?.[0]?.state?.terminated?.message?.trim() ?? '';
  return /^\d{1,15}$/.test(reported) ? Number(reported) : undefined;
}
