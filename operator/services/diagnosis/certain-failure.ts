import type { Deployment, PersistentVolumeClaim, Pod } from '../../../kubernetes/resource-type.ts';
import { isForGood } from './refusal.ts';

/**
 * A pull that failed is tried again after 10 s and 20 s more: what is still not there then was not about to be pushed.
 */
const PULL_TRIES_MS = 45_000;
/** The kubelet's own caches may be behind by a minute. */
const SET_UP_TRIES_MS = 60_000;
/** A refusal may be about pods of the template before. */
const REFUSAL_MS = 10_000;
/** A command that is not in the image is tried as often as this. */
const START_TRIES = 2;

const missingImage =
  /not found|manifest unknown|name unknown|repository does not exist|no match for platform|no matching manifest/i;
/** What a registry says of an image that it may yet show, to others or later. */
const passing = /no such host|too ?many ?requests|unauthorized|denied|forbidden|timeout|\b(401|403|429|5\d\d)\b/i;
const missingReference = /^(secret|configmap) "[^"]*" not found|^couldn't find key |runAsNonRoot|non-numeric user/i;
const missingCommand = /executable file not found|no such file or directory|exec format error|permission denied/i;

export interface Awaited {
  /** When what is rolled out started to be: older pods may be of something else. */
  since: Date;
  /** The service's pods that are not on their way out. */
  pods: readonly Pod[];
  deployment?: Deployment | undefined;
  /** Of the volumes that it mounts. */
  claims: readonly PersistentVolumeClaim[];
}

export interface Outlook {
  /** From then on nothing but a change of what is asked for brings the service up. */
  failsAt?: Date | undefined;
  /** A container that crashes is not started again before then. */
  retriesAt?: Date | undefined;
}

/**
 * Reports when it is certain that a service does not become ready. Only of what nothing in the cluster can change: a
 * program may crash until its database is there, a registry may answer again, a node may be added.
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

type Status = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

function failsAt(pod: Pod, { state, lastState, restartCount }: Status, hasVolumes: boolean): number | undefined {
  const { reason = '', message = '' } = state?.waiting ?? {};
  const startedAt = Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '');
  switch (reason) {
    case 'InvalidImageName':
    case 'ErrImageNeverPull':
      return startedAt;
    case 'ErrImagePull':
    case 'ImagePullBackOff':
      return missingImage.test(message) && !passing.test(withoutHidden(message))
        ? startedAt + PULL_TRIES_MS
        : undefined;
    case 'CreateContainerConfigError':
      return missingReference.test(message) ? startedAt + SET_UP_TRIES_MS : undefined;
    default: {
      const ended = state?.terminated ?? lastState?.terminated;
      const isStartError = ended?.reason === 'StartError' || ended?.reason === 'ContainerCannotRun';
      const isMissing = isStartError && missingCommand.test(ended.message ?? '');
      // Another service may yet put it into a volume.
      return isMissing && !hasVolumes && restartCount >= START_TRIES ? startedAt : undefined;
    }
  }
}

/** Docker Hub says of an image that there is not what it says of one that is private. */
function withoutHidden(message: string): string {
  return /repository does not exist/i.test(message) ? '' : message;
}

/** The kubelet says how long it waits: `back-off 1m20s restarting failed container=web pod=…`. */
function retryAt({ state, lastState }: Status): number | undefined {
  if (state?.waiting?.reason !== 'CrashLoopBackOff') return undefined;
  const [, minutes = '0', seconds = '0'] =
    /^back-off (?:(\d+)m)?(?:(\d+)s)? restarting/.exec(state.waiting.message ?? '') ?? [];
  return Date.parse(lastState?.terminated?.finishedAt ?? '') + (Number(minutes) * 60 + Number(seconds)) * 1000;
}

/** When admission refused the pods for what they ask for, whatever else the cluster does. */
function refusedAt(deployment: Deployment | undefined, since: Date): number | undefined {
  const refusal = deployment?.status?.conditions?.find((one) => one.type === 'ReplicaFailure' && one.status === 'True');
  if (refusal?.message === undefined || !isForGood(refusal.message)) return undefined;
  return Math.max(Date.parse(refusal.lastTransitionTime ?? ''), since.getTime()) + REFUSAL_MS;
}

function dateOf(times: readonly (number | undefined)[], pick: (times: number[]) => number): Date | undefined {
  const known = times.filter((time): time is number => time !== undefined && !Number.isNaN(time));
  return known.length === 0 ? undefined : new Date(pick(known));
}
