import type { Pod } from '../../../kubernetes/resource-type.ts';
import { usedTooMuchDisk } from '../../shared/pod-parts.ts';
import { containerDiagnosis } from './container-diagnosis.ts';
import { isOwnContainer, recoversAt } from './recovery.ts';

/** Facts about a pod that its status does not contain. */
export interface PodFacts {
  /** Output of the last failed health check. */
  checkOutput?: string | undefined;
  /** The time, for a service that does not count as ready right after a restart. */
  now?: Date | undefined;
}

/** Returns why a pod does not run, and what to do; undefined if its status does not show it. */
export function podDiagnosis(pod: Pod, { checkOutput, now }: PodFacts = {}): string | undefined {
  // Its containers report only that they were killed.
  if (usedTooMuchDisk(pod.status)) {
    return `it wrote too much outside of volumes and was evicted. Write less, or to a volume (${pod.status?.message?.trim() ?? ''})`;
  }
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const containers = new Map(pod.spec?.containers.map((container) => [container.name, container]));
  const facts = { isRestarted: pod.spec?.restartPolicy === 'Always', unreadySince: unreadySince(pod), checkOutput };
  const isRecovering = now !== undefined && recoversAt(pod, now) !== undefined;
  for (const status of statuses) {
    const diagnosis = containerDiagnosis(status, containers.get(status.name), {
      ...facts,
      isRecovering: isRecovering && isOwnContainer(pod, status.name),
    });
    if (diagnosis !== undefined) return diagnosis;
  }
  const unscheduled = pod.status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
  if (unscheduled) return unscheduledWords(unscheduled.message ?? unscheduled.reason ?? 'Unschedulable');
  // For example, evicted by its node.
  if (pod.status?.phase === 'Failed' && pod.status.reason !== undefined) {
    return [pod.status.reason, pod.status.message].filter((part) => part !== undefined).join(': ');
  }
  return undefined;
}

function unreadySince({ status }: Pod): Date | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'False' && ready.lastTransitionTime !== undefined
    ? new Date(ready.lastTransitionTime)
    : undefined;
}

/**
 * Explains the scheduler's message, such as `0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory.
 * preemption: …`.
 */
function unscheduledWords(message: string): string {
  const storageClass = /storageclass[^"]*"([^"]*)" not found/.exec(message)?.[1];
  if (storageClass !== undefined) {
    return `there is no storage class ${storageClass} for its volume. Set another one in x-coppice.class, or ask an administrator to create it`;
  }
  const resources = [...new Set([...message.matchAll(/Insufficient ([\w./-]*\w)/g)].map((match) => match[1]))];
  const reason = message.replace(/\.? *(no new claims|preemption:).*$/s, '');
  if (resources.length > 0) {
    return `no node has enough ${resources.join(' and ')} left for it. Reserve less (deploy.resources.reservations), delete other environments, or ask an administrator to add nodes (${reason})`;
  }
  if (/didn't match Pod's node affinity\/selector/.test(message)) {
    return `no node can run it: the cluster may have none of its platform. Remove platform, or ask an administrator to add nodes (${reason})`;
  }
  // The claim is created just before its pod, and the scheduler's cache may not contain it yet.
  if (/persistentvolumeclaim "[^"]*" not found/.test(message)) return `its volume is being created (${reason})`;
  if (/PersistentVolumeClaim|volume node affinity|VolumeBinding/i.test(message)) {
    return `no node can run it because of its volume. Ask an administrator to check the storage (${reason})`;
  }
  return `no node can run it. Ask an administrator to check the nodes (${message})`;
}
