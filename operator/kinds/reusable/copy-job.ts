import type { Job } from '../../../kubernetes/resource-type.ts';
import { AS_ROOT, confined, RUNS_ONCE } from '../../shared/pod-parts.ts';
import { LEAVES_SOON, scheduled, type Scheduling } from '../../shared/scheduling.ts';
import { FOLDER_IN_VOLUME } from '../../services/objects/mounts.ts';
import { copyName } from './names.ts';
import { copyAnnotations, copyLabels, type VolumeCopy } from './volume-copy.ts';

export interface CopyJobSettings {
  /** Coppice's own image. */
  image: string;
  deadlineSeconds: number;
  /** Where the pods of environments run: a volume that was filled on another node may not be accessible there. */
  scheduling?: Scheduling;
}

/**
 * Restarts an interrupted copy from scratch. Also copies the owner and mode of the volume's root: if they do not match
 * the pod's fsGroup, the kubelet changes every file of the volume. Symbolic links are copied, never followed.
 */
const script = `set -eu
find /to -mindepth 1 -maxdepth 1 ! -name lost+found -exec rm -rf {} +
if [ -e /from/${FOLDER_IN_VOLUME} ]; then cp -a --reflink=auto /from/${FOLDER_IN_VOLUME} /to/; fi
chown --reference=/from /to
chmod --reference=/from /to
sync -f /to`;

/**
 * Returns the Job that copies one volume's files to another: as root with only file capabilities, and without a
 * network.
 */
export function copyJob(copy: VolumeCopy, { image, deadlineSeconds, scheduling }: CopyJobSettings): Job {
  const name = copyName(copy.id);
  const labels = copyLabels(copy);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: copy.source.namespace, name, labels, annotations: copyAnnotations(copy) },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: deadlineSeconds,
      podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
      template: {
        metadata: { labels },
        spec: {
          ...RUNS_ONCE,
          ...scheduled(scheduling, { tolerations: LEAVES_SOON }),
          terminationGracePeriodSeconds: 5,
          securityContext: AS_ROOT,
          containers: [
            {
              name: 'copy',
              image,
              command: ['/bin/sh', '-c', script],
              volumeMounts: [
                { name: 'from', mountPath: '/from', readOnly: true },
                { name: 'to', mountPath: '/to' },
              ],
              securityContext: confined('CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETFCAP'),
              resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '2', memory: '512Mi' } },
              terminationMessagePolicy: 'FallbackToLogsOnError',
            },
          ],
          volumes: [
            { name: 'from', persistentVolumeClaim: { claimName: copy.source.name } },
            { name: 'to', persistentVolumeClaim: { claimName: name } },
          ],
        },
      },
    },
  };
}
