import type { Pod } from '../../../kubernetes/resource-type.ts';

/** A pod that failed before this age would fail again, so it is not replaced. */
const replaceableAfterMs = 30_000;

const ageMs = (pod: Pod, now: Date) => now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? '');

/** Returns whether the kubelet will not run the pod again, because it was evicted or rejected. */
function isOver(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
}

/** Returns whether the pod was evicted after running for a while, and can be replaced. */
export function isReplaceable(pod: Pod, now: Date): boolean {
  return isOver(pod) && ageMs(pod, now) >= replaceableAfterMs;
}

/** How long a pod waits for the node of its volume, in milliseconds: it may be about to return. */
const volumeNodeMs = 15_000;
/** Matches the scheduler's message about a volume of another node, in its wordings since Kubernetes 1.28. */
const volumeElsewhere = /volume node affinity|PersistentVolume's node affinity|\[VolumeBinding\]/;

/** Returns whether the pod cannot be scheduled because its volume is bound to a node that takes no pods. */
export function isKeptByVolume(pod: Pod, now: Date): boolean {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False' || !volumeElsewhere.test(scheduled.message ?? '')) return false;
  return now.getTime() - Date.parse(scheduled.lastTransitionTime ?? '') >= volumeNodeMs;
}

/** Returns whether the pod failed immediately, or has not become ready within the time that builds wait. */
export function isHopeless(pod: Pod, deadlineSeconds: number, now: Date): boolean {
  if (isOver(pod)) return !isReplaceable(pod, now);
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return false;
  const since = Date.parse(ready?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
  return now.getTime() - since > deadlineSeconds * 1000;
}
