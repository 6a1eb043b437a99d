import type { Deployment, PersistentVolumeClaim, Pod } from '../../../kubernetes/resource-type.ts';
import type { ContainerStatus } from '../../shared/pod-parts.ts';
import { isForGood } from './refusal.ts';

/**
 * Failed pulls are retried after 10 s and 20 s: an image that is still missing after that is not about to be pushed.
 */
const pullTriesMs = 45_000;
/** The kubelet's caches can be a minute old. */
const setUpTriesMs = 60_000;
/** A recent refusal may concern pods of the previous template. */
const refusalMs = 10_000;
/** Number of starts after which a missing command counts as certain. */
const startTries = 2;

const missingImage =
  /not found|manifest unknown|name unknown|repository does not exist|no match for platform|no matching manifest/i;
/** Matches registry errors that can go away, with time or with credentials. */
const passing = /no such host|too ?many ?requests|unauthorized|denied|forbidden|timeout|\b(401|403|429|5\d\d)\b/i;
const missingReference = /^(secret|configmap) "[^"]*" not found|^couldn't find key |runAsNonRoot|non-numeric user/i;
const missingCommand = /executable file not found|no such file or directory|exec format error|permission denied/i;

export interface Awaited {
  /** When the rollout was requested; older pods may belong to a previous one. */
  since: Date;
  /** The service's pods that are not terminating. */
  pods: readonly Pod[];
  deployment?: Deployment | undefined;
  /** Claims of the volumes that the service mounts. */
  claims: readonly PersistentVolumeClaim[];
}

export interface Outlook {
  /** After this time the service becomes ready only if its configuration changes. */
  failsAt?: Date | undefined;
  /** When a crashed container is restarted. */
  retriesAt?: Date | undefined;
}

/**
 * Returns when it is certain that a service will not become ready. Considers only failures that nothing in the cluster
 * can fix: a program may crash until its database runs, a registry may recover, and a node may be added.
 */
export function outlookOf({ since, pods, deployment, claims }: Awaited): Outlook {
  const fresh = pods.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') >= since.getTime() - 1000);
  const hasVolumes = claims.length > 0;
  const failures = [
    ...fresh.flatMap((pod) => (pod.status?.containerStatuses ?? []).map((status) => failsAt(pod, status, hasVolumes))),
    ...claims.map(({ status }) => (status?.phase === 'Lost' ? since.getTime() : undefined)),
    refusedAt(deployment, since),
  ];
  const retries = fresh.flatMap((pod) => (pod.status?.containerStatuses ?? []).map(retryAt));
  return {
    failsAt: dateOf(failures, (times) => Math.min(...times)),
    retriesAt: dateOf(retries, (times) => Math.max(...times)),
  };
}

function failsAt(
  pod: Pod,
  { state, lastState, restartCount }: ContainerStatus,
  hasVolumes: boolean,
): number | undefined {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const startedAt = Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '');
  switch (reason) {
    case 'InvalidImageName':
    case 'ErrImageNeverPull':
      return startedAt;
    case 'ErrImagePull':
    case 'ImagePullBackOff':
      return missingImage.test(message) && !passing.test(withoutHidden(message)) ? startedAt + pullTriesMs : undefined;
    case 'CreateContainerConfigError':
      return missingReference.test(message) ? startedAt + setUpTriesMs : undefined;
    default: {
      // A container that runs now has been started in the end.
      const ended = state?.running ? undefined : (state?.terminated ?? lastState?.terminated);
      const isStartError = ended?.reason === 'StartError' || ended?.reason === 'ContainerCannotRun';
      const isMissing = isStartError && missingCommand.test(ended.message ?? '');
      // Another service may still write the file to a volume.
      return isMissing && !hasVolumes && restartCount >= startTries ? startedAt : undefined;
    }
  }
}

/** Drops Docker Hub's message for a missing image, which is the same as for a private one. */
function withoutHidden(message: string): string {
  return /repository does not exist/i.test(message) ? '' : message;
}

/**
 * Returns when the container is restarted, in Unix milliseconds. The kubelet reports the delay: `back-off 1m20s
 * restarting failed container=web pod=…`.
 */
function retryAt({ state, lastState }: ContainerStatus): number | undefined {
  if (state?.waiting?.reason !== 'CrashLoopBackOff') return undefined;
  const [, minutes = '0', seconds = '0'] =
    /^back-off (?:(\d+)m)?(?:(\d+)s)? restarting/.exec(state.waiting.message ?? '') ?? [];
  return Date.parse(lastState?.terminated?.finishedAt ?? '') + (Number(minutes) * 60 + Number(seconds)) * 1000;
}

/** Returns when admission refused the pods for reasons that only a change of the service can fix. */
function refusedAt(deployment: Deployment | undefined, since: Date): number | undefined {
  const refusal = deployment?.status?.conditions?.find((one) => one.type === 'ReplicaFailure' && one.status === 'True');
  if (refusal?.message === undefined || !isForGood(refusal.message)) return undefined;
  return Math.max(Date.parse(refusal.lastTransitionTime ?? ''), since.getTime()) + refusalMs;
}

function dateOf(times: readonly (number | undefined)[], pick: (times: number[]) => number): Date | undefined {
  const known = times.filter((time): time is number => time !== undefined && !Number.isNaN(time));
  return known.length === 0 ? undefined : new Date(pick(known));
}
