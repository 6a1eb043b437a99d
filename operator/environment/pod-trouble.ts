import type { Pod } from '../../kubernetes/resource-type.ts';

/** What a pod's status says about why a container does not run, in the kubelet's words; undefined when it says nothing. */
export function podTrouble(pod: Pod): string | undefined {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { state, lastState } of statuses) {
    const waiting = state?.waiting;
    if (waiting?.reason && !['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) {
      const last = lastState?.terminated;
      const details = last ? `exit code ${last.exitCode}: ${lastLines(last.message)}` : waiting.message;
      return details ? `${waiting.reason} (${details})` : waiting.reason;
    }
    if (state?.terminated && state.terminated.exitCode !== 0) {
      return `exit code ${state.terminated.exitCode}: ${lastLines(state.terminated.message)}`;
    }
  }
  const unscheduled = pod.status?.conditions?.find((one) => one.type === 'PodScheduled' && one.status === 'False');
  return unscheduled?.message;
}

/** The end of a container's log, as the kubelet keeps it in the termination message. */
function lastLines(text: string | undefined, count = 5): string {
  return (text ?? '').trimEnd().split('\n').slice(-count).join('\n').slice(-1000);
}
