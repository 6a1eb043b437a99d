import type { Job, Pod } from '../../kubernetes/resource-type.ts';
import { lastLines } from '../last-lines.ts';
import { cutAtSpace } from '../one-line.ts';
import { usedTooMuchDisk } from '../pod-parts.ts';
import { NOT_CLONED } from './after-clone.ts';
import { roleOf } from './job-containers.ts';

export interface BuildFailure {
  /** In words for the repository's author. */
  message: string;
  /** The machinery failed, not what the repository asks for: another try may go well. */
  isInfrastructure: boolean;
  /** How long what failed takes to come back, where that is known. */
  pauseMs?: number;
}

function condition(job: Job, type: string) {
  return (job.status?.conditions ?? []).find((one) => one.type === type && one.status === 'True');
}

export function isFailed(job: Job): boolean {
  return condition(job, 'Failed') !== undefined;
}

export function isFinished(job: Job): boolean {
  return isFailed(job) || condition(job, 'Complete') !== undefined;
}

/**
 * When the Job's work was over, in milliseconds since 1970; undefined while it is not. Its containers say so a second or
 * two before the pod's phase and the Job controller do. Only of success: why a Job failed is told by its end.
 */
export function workEnd(job: Job, pod: Pod | undefined): number | undefined {
  if (isFinished(job)) return endOf(job);
  const statuses = pod?.status?.containerStatuses ?? [];
  const ended = (pod?.spec?.containers ?? []).map(
    ({ name }) => statuses.find((status) => status.name === name)?.state?.terminated,
  );
  if (ended.length === 0 || ended.some((one) => one?.exitCode !== 0)) return undefined;
  return Math.max(...ended.map((one) => Date.parse(one?.finishedAt ?? '')));
}

/** What waits for a clone ends with it, unless the clone ended before it had begun. */
const endsWithCloneMs = 10_000;

/**
 * When the Job failed, in milliseconds since 1970; undefined where it has not. After a clone that ended at its very start the
 * containers beside it would wait until the Job's deadline.
 */
export function failedAt(job: Job, pod: Pod | undefined, now: Date): number | undefined {
  if (isFinished(job)) return isFailed(job) ? endOf(job) : undefined;
  const at = strandedAt(pod);
  return at !== undefined && at <= now.getTime() ? at : undefined;
}

/** By when what waits for a clone that failed has ended with it, in milliseconds since 1970; undefined where none failed. */
export function strandedAt(pod: Pod | undefined): number | undefined {
  const { state } = pod?.status?.containerStatuses?.find(({ name }) => roleOf(name).stage === 'clone') ?? {};
  const { exitCode = 0, finishedAt } = state?.terminated ?? {};
  // The kubelet knows no time of a container that it has lost.
  return exitCode === 0 || !finishedAt ? undefined : Date.parse(finishedAt) + endsWithCloneMs;
}

/** When a Job that has finished did, in milliseconds since 1970. */
export function endOf(job: Job): number {
  return Math.max(...(job.status?.conditions ?? []).map((one) => Date.parse(one.lastTransitionTime ?? '')));
}

const mostLines = 12;
const longestMessage = 4000;

/** Why the Job failed. */
export function buildFailure(job: Job, pod: Pod | undefined, deadlineSeconds: number): BuildFailure {
  if (condition(job, 'Failed')?.reason === 'DeadlineExceeded') {
    return {
      message:
        `the build took longer than ${deadlineSeconds} s and was ended: make it shorter, or let an administrator ` +
        'raise the limit (chart value builder.deadlineSeconds)',
      isInfrastructure: false,
    };
  }
  const containers = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
  const failures = containers.flatMap(({ name, state }) => {
    const { exitCode, reason, message } = state?.terminated ?? {};
    // One that waited for a clone which did not come says nothing of its own.
    if (exitCode === undefined || exitCode === 0 || exitCode === NOT_CLONED) return [];
    return [containerFailure(name, exitCode, reason, message ?? '')];
  });
  const podFailure = pod ? failureOfPod(pod) : { message: 'it is gone', isInfrastructure: true };
  if (podFailure) {
    const message = `the build's pod was ended: ${podFailure.message}`;
    return { message, isInfrastructure: podFailure.isInfrastructure };
  }
  if (failures.length > 0) {
    const pauses = failures.flatMap(({ pauseMs = [] }) => pauseMs);
    return {
      message: cutAtSpace(failures.map(({ message }) => message).join('\n'), longestMessage),
      isInfrastructure: failures.every(({ isInfrastructure }) => isInfrastructure),
      ...(pauses.length > 0 && { pauseMs: Math.max(...pauses) }),
    };
  }
  const words = pod?.status?.message ?? condition(job, 'Failed')?.message ?? 'it does not say why';
  return { message: `the build's pod failed: ${words}`, isInfrastructure: false };
}

/** What ended the pod as a whole: the node, its disk, or somebody who deleted it. */
function failureOfPod({ metadata, status }: Pod): BuildFailure | undefined {
  const { reason, message = '' } = status ?? {};
  // Its own volumes were full: that is what the repository holds, not the node.
  if (usedTooMuchDisk(status)) {
    return { message: `it used more disk than it may (${message})`, isInfrastructure: false };
  }
  const disruption = status?.conditions?.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True');
  if (reason === 'Evicted' || reason === 'NodeLost' || reason === 'Shutdown' || reason === 'Terminated' || disruption) {
    return { message: message || disruption?.message || (reason ?? 'disrupted'), isInfrastructure: true };
  }
  if (metadata.deletionTimestamp !== undefined) return { message: 'it was deleted', isInfrastructure: true };
  return undefined;
}

function containerFailure(name: string, exitCode: number, reason: string | undefined, output: string): BuildFailure {
  const { stage, service } = roleOf(name);
  const isClone = stage === 'clone';
  const what = isClone ? 'the clone' : `the build of service ${service}`;
  const lines = output.trimEnd().split('\n');
  const log = lastLines(output, mostLines);
  const told = (why: string) => `${what} failed (${why})${log ? `:\n${log}` : ''}`;
  if (reason === 'OOMKilled') return { message: told('it ran out of memory'), isInfrastructure: false };
  const verdict = isClone ? cloneVerdict(lines) : buildVerdict(lines);
  if (verdict === 'out of memory') {
    const hint =
      'a step was killed, as happens when it runs out of memory: let it use less, or let an administrator give builders ' +
      'more (chart value builder.resources)';
    return { message: told(hint), isInfrastructure: false };
  }
  if (!isClone && noRoom.test(log)) {
    const remedy =
      'let the build write less, or let an administrator give builders more (chart values builder.cache.size, and ' +
      'builder.throwaway.storage for code that is not trusted)';
    // A step may have filled a memory of its own, /dev/shm or a tmpfs, as well.
    return verdict === 'own'
      ? {
          message: told(`a step found no room, as when the builder's disk is full: ${remedy}`),
          isInfrastructure: false,
        }
      : { message: told(`the builder's disk is full: ${remedy}`), isInfrastructure: true, pauseMs: roomComesBackMs };
  }
  return { message: told(`exit code ${exitCode}`), isInfrastructure: verdict === 'infrastructure' };
}

type Verdict = 'infrastructure' | 'out of memory' | 'own';

const serverErrors = /unexpected (HTTP )?status.*: 5\d\d\b/i;
const lostConnections =
  /code = Unavailable|error reading from server|transport is closing|connection (refused|reset by peer)|context canceled/;
const noRoom = /no space left on device/i;
/** buildkitd gives back what a build took a minute after its end. */
const roomComesBackMs = 70_000;

/** buildctl's last word says what failed; a step's own output never counts. */
function buildVerdict(lines: readonly string[]): Verdict {
  const last = lines.findLast((line) => line.startsWith('error: ')) ?? '';
  if (/did not complete successfully/.test(last)) {
    return /exit code: 137$|signal: killed$/.test(last.trimEnd()) ? 'out of memory' : 'own';
  }
  return serverErrors.test(last) || lostConnections.test(last) || noRoom.test(last) ? 'infrastructure' : 'own';
}

function cloneVerdict(lines: readonly string[]): Verdict {
  const lost =
    /Could not resolve host|Failed to connect|did not answer|could not be resolved|Connection (refused|reset|timed out)|hung up|early EOF|error: 5\d\d/;
  // git's last word is often what followed from the one before.
  return lines.some((line) => /^(fatal|error): /.test(line) && lost.test(line)) ? 'infrastructure' : 'own';
}

/** What keeps the pod from starting, if something does: an image that is not to be had, a cluster without room. */
export function obstacleOf(pod: Pod): string | undefined {
  const containers = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { state, image } of containers) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (/ErrImagePull|ImagePullBackOff|InvalidImageName/.test(reason)) return `the image ${image} cannot be pulled`;
    if (/^Create\w+Error$/.test(reason)) return `${reason}: ${message}`;
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  return `no node takes the build yet: ${scheduled.message ?? scheduled.reason ?? ''}`;
}
