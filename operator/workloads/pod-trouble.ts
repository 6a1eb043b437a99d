import type { Pod } from '../../kubernetes/resource-type.ts';
import { containerTrouble } from './container-trouble.ts';

/**
 * Why a pod does not run, in words to act on; undefined when its status says nothing. `checkOutput`: what its health check
 * said when it failed last.
 */
export function podTrouble(pod: Pod, checkOutput?: string): string | undefined {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const containers = new Map(pod.spec?.containers.map((container) => [container.name, container]));
  const facts = { isRestarted: pod.spec?.restartPolicy === 'Always', unreadySince: unreadySince(pod), checkOutput };
  for (const status of statuses) {
    const trouble = containerTrouble(status, containers.get(status.name), facts);
    if (trouble !== undefined) return trouble;
  }
  const unscheduled = pod.status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
  if (unscheduled) return unscheduledWords(unscheduled.message ?? unscheduled.reason ?? 'Unschedulable');
  // Evicted, say, by its node.
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

/** The scheduler's message, `0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient memory. preemption: …`. */
function unscheduledWords(message: string): string {
  const storageClass = /storageclass[^"]*"([^"]*)" not found/.exec(message)?.[1];
  if (storageClass !== undefined) {
    return `there is no storage class ${storageClass} for its volume: name another one in x-coppice.class, or have an administrator make it`;
  }
  const resources = [...new Set([...message.matchAll(/Insufficient ([\w./-]*\w)/g)].map((match) => match[1]))];
  const said = message.replace(/\.? *(no new claims|preemption:).*$/s, '');
  if (resources.length > 0) {
    return `no node has enough ${resources.join(' and ')} left for it: reserve less (deploy.resources.reservations), end other environments, or have an administrator add nodes (${said})`;
  }
  if (/didn't match Pod's node affinity\/selector/.test(message)) {
    return `no node takes it: the cluster may have none of its platform (${said})`;
  }
  if (/PersistentVolumeClaim|volume node affinity|VolumeBinding/i.test(message)) {
    return `no node takes it because of its volume: have an administrator see to the storage (${said})`;
  }
  return `no node takes it: ${message}`;
}
