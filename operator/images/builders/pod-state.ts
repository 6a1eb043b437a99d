import type { Pod } from '../../../kubernetes/resource-type.ts';

/** A pod that failed younger than this would only fail again. */
const replaceableAfterMs = 30_000;

const ageMs = (pod: Pod, now: Date) => now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? '');

/** The kubelet will not run it again: it was evicted, or not let in. */
function isOver(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
}

/** It ran for a while and was then evicted: another one takes its place. */
export function isReplaceable(pod: Pod, now: Date): boolean {
  return isOver(pod) && ageMs(pod, now) >= replaceableAfterMs;
}

/** It ended at once, or has not been ready for longer than builds wait for it. */
export function isHopeless(pod: Pod, deadlineSeconds: number, now: Date): boolean {
  if (isOver(pod)) return !isReplaceable(pod, now);
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return false;
  const since = Date.parse(ready?.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
  return now.getTime() - since > deadlineSeconds * 1000;
}
