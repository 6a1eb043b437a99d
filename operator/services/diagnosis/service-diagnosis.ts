import type { Deployment, PersistentVolumeClaim, Pod } from '../../../kubernetes/resource-type.ts';
import { podDiagnosis } from './pod-diagnosis.ts';
import { explainRefusal } from './refusal.ts';

export interface Observed {
  isJob?: boolean | undefined;
  /** The service's pods that are not terminating. */
  pods: readonly Pod[];
  deployment?: Deployment | undefined;
  /** Claims of the volumes that the service mounts. */
  claims: readonly PersistentVolumeClaim[];
  /** Output of the pods' last failed health checks, by UID. */
  checkOutputs?: ReadonlyMap<string, string> | undefined;
  now: Date;
}

/** Returns the first reason found for a service not being ready; undefined if there is none. */
export function serviceDiagnosis({ isJob, pods, deployment, claims, checkOutputs, now }: Observed): string | undefined {
  const newestFirst = byAge(pods);
  if (isJob && newestFirst[0] && runs(newestFirst[0])) return 'it still runs';
  const unbound = claims.find(({ status }) => status?.phase !== 'Bound');
  // The claim's diagnosis is more specific than the scheduler's message.
  if (unbound && newestFirst[0] && waitsForClaim(newestFirst[0])) return volumeWords(unbound);
  const ofPods = newestFirst
    .map((pod) => podDiagnosis(pod, { checkOutput: checkOutputs?.get(pod.metadata.uid ?? ''), now }))
    .find((found) => found !== undefined);
  if (ofPods !== undefined) return ofPods;
  const refused = deployment?.status?.conditions?.find((one) => one.type === 'ReplicaFailure' && one.status === 'True');
  if (refused?.message !== undefined) return explainRefusal(refused.message);
  if (pods.length > 0 && unbound) return volumeWords(unbound);
  return undefined;
}

function runs({ status }: Pod): boolean {
  return status?.containerStatuses?.some(({ state }) => state?.running !== undefined) ?? false;
}

function waitsForClaim({ status }: Pod): boolean {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' && /unbound immediate PersistentVolumeClaims/.test(scheduled.message ?? '');
}

function volumeWords({ metadata, spec, status }: PersistentVolumeClaim): string {
  const name = metadata.name.replace(/^volume-/, '');
  const size = spec?.resources?.requests?.['storage'];
  const details = [
    status?.phase ?? 'Pending',
    size,
    spec?.storageClassName && `storage class ${spec.storageClassName}`,
  ];
  if (status?.phase === 'Lost') return `its volume ${name} is lost. A rebuild creates a new one`;
  return `its volume ${name} does not exist yet (${details.filter(Boolean).join(', ')}). Check its storage class (x-coppice.class), or ask an administrator to check it`;
}

/** Sorts pods by age, newest first. */
export function byAge(pods: readonly Pod[]): Pod[] {
  return [...pods].sort((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1));
}

export interface Termination {
  reason: string;
  exitCode: number;
  /** RFC 3339. */
  finishedAt: string;
}

/** Returns the most recent termination of a service's containers; undefined if none has terminated. */
export function lastTermination(pods: readonly Pod[]): Termination | undefined {
  return pods
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .flatMap(({ state, lastState }) => [state?.terminated ?? [], lastState?.terminated ?? []].flat())
    .flatMap(({ reason = 'Unknown', exitCode, finishedAt }) =>
      // The kubelet reports no time for a lost container.
      finishedAt ? [{ reason, exitCode, finishedAt }] : [],
    )
    .sort((a, b) => Date.parse(a.finishedAt) - Date.parse(b.finishedAt))
    .at(-1);
}

/** Returns how often a service's containers were restarted. */
export function restartsOf(pods: readonly Pod[]): number {
  return pods
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
}

function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? '';
}
