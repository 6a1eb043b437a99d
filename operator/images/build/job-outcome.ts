import type { Job, Pod } from '../../../kubernetes/resource-type.ts';
import { lastLines } from '../../services/diagnosis/last-lines.ts';
import { cutAtSpace } from '../../shared/one-line.ts';
import { usedTooMuchDisk } from '../../shared/pod-parts.ts';
import { NOT_CLONED } from './after-clone.ts';
import { roleOf } from './job-containers.ts';

export interface BuildFailure {
  /** A text for the repository's author. */
  message: string;
  /** Whether the infrastructure failed rather than the repository, so that a retry can succeed. */
  isInfrastructure: boolean;
  /** How long to wait before a retry, if known. */
  pauseMs?: number;
}

/** The failure of a try whose builder no longer exists, which its containers cannot notice. */
export const BUILDER_LOST: BuildFailure = {
  message: 'the builder was deleted, or its node does not respond',
  isInfrastructure: true,
};

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
 * Returns when the Job's work succeeded, in milliseconds since 1970; undefined if it has not. The containers report it
 * a second or two before the pod's phase and the Job controller do. A failure is determined from the Job's end.
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

/** Containers that wait for a clone end with it, unless the clone ended before they started. */
const endsWithCloneMs = 10_000;

/**
 * Returns when the Job failed, in milliseconds since 1970; undefined if it has not. If a clone ends immediately, the
 * containers beside it would wait until the Job's deadline.
 */
export function failedAt(job: Job, pod: Pod | undefined, now: Date): number | undefined {
  if (isFinished(job)) return isFailed(job) ? endOf(job) : undefined;
  const at = strandedAt(pod);
  return at !== undefined && at <= now.getTime() ? at : undefined;
}

/**
 * Returns by when containers that wait for a failed clone have ended, in milliseconds since 1970; undefined if no clone
 * failed.
 */
export function strandedAt(pod: Pod | undefined): number | undefined {
  const clones = (pod?.status?.containerStatuses ?? []).filter(({ name }) => roleOf(name).stage === 'clone');
  // The kubelet reports no time for a container that it has lost.
  const failed = clones.flatMap(({ state }) => {
    const { exitCode = 0, finishedAt } = state?.terminated ?? {};
    return exitCode === 0 || !finishedAt ? [] : [Date.parse(finishedAt)];
  });
  return failed.length === 0 ? undefined : Math.min(...failed) + endsWithCloneMs;
}

/** Returns when a finished Job finished, in milliseconds since 1970. */
export function endOf(job: Job): number {
  return Math.max(...(job.status?.conditions ?? []).map((one) => Date.parse(one.lastTransitionTime ?? '')));
}

const maxLines = 12;
const maxMessage = 4000;

/** Returns why the Job failed. */
export function buildFailure(job: Job, pod: Pod | undefined, deadlineSeconds: number): BuildFailure {
  if (condition(job, 'Failed')?.reason === 'DeadlineExceeded') {
    return {
      message:
        `the build took longer than ${deadlineSeconds} s and was terminated. Make it shorter, or ask an administrator to ` +
        'raise the limit (chart value builder.deadlineSeconds)',
      isInfrastructure: false,
    };
  }
  const containers = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
  const failures = containers.flatMap(({ name, state }) => {
    const { exitCode, reason, message } = state?.terminated ?? {};
    // A container that waited for a failed clone has no failure of its own.
    if (exitCode === undefined || exitCode === 0 || exitCode === NOT_CLONED) return [];
    return [containerFailure(name, exitCode, reason, message ?? '')];
  });
  const podFailure = pod ? failureOfPod(pod) : { message: 'it was deleted', isInfrastructure: true };
  if (podFailure) {
    const message = `the build's pod was terminated: ${podFailure.message}`;
    return { message, isInfrastructure: podFailure.isInfrastructure };
  }
  if (failures.length > 0) {
    const pauses = failures.flatMap(({ pauseMs = [] }) => pauseMs);
    return {
      message: cutAtSpace(failures.map(({ message }) => message).join('\n'), maxMessage),
      isInfrastructure: failures.every(({ isInfrastructure }) => isInfrastructure),
      ...(pauses.length > 0 && { pauseMs: Math.max(...pauses) }),
    };
  }
  const words = pod?.status?.message ?? condition(job, 'Failed')?.message ?? 'no reason was reported';
  return { message: `the build's pod failed: ${words}. Request a build to try again`, isInfrastructure: false };
}

/** Returns what ended the pod as a whole: the node, its disk, or a deletion. */
function failureOfPod({ metadata, status }: Pod): BuildFailure | undefined {
  const { reason, message = '' } = status ?? {};
  // The build filled the pod's own volumes, so the repository is the cause and not the node.
  if (usedTooMuchDisk(status)) {
    return {
      message: `it used more disk than permitted (${message}). Reduce what the build writes, or ask an administrator to raise the limit`,
      isInfrastructure: false,
    };
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
  const log = lastLines(output, maxLines);
  const describe = (why: string) => `${what} failed (${why})${log ? `:\n${log}` : ''}`;
  if (reason === 'OOMKilled')
    return {
      message: describe('it ran out of memory. Ask an administrator to give builds more'),
      isInfrastructure: false,
    };
  const category = isClone ? cloneCategory(lines) : buildCategory(lines);
  if (category === 'out of memory') {
    const hint =
      'a step was killed, probably because it ran out of memory. Reduce its memory usage, or ask an administrator to give builders ' +
      'more (chart value builder.resources)';
    return { message: describe(hint), isInfrastructure: false };
  }
  if (!isClone && noRoom.test(log)) {
    const remedy =
      'Reduce what the build writes, or ask an administrator to give builders more disk (chart values builder.cache.size, and ' +
      'builder.ephemeral.storage for code that is not trusted)';
    // A step may also have filled memory of its own, such as /dev/shm or a tmpfs.
    return category === 'own'
      ? {
          message: describe(`a step could not write, probably because the builder's disk is full. ${remedy}`),
          isInfrastructure: false,
        }
      : {
          message: describe(`the builder's disk is full. ${remedy}`),
          isInfrastructure: true,
          pauseMs: roomComesBackMs,
        };
  }
  return {
    message: describe(`exit code ${exitCode}`),
    isInfrastructure: category === 'infrastructure',
    ...(category === 'infrastructure' && silentBuilder.test(log) && { pauseMs: lossIsNoticedMs }),
  };
}

type Readiness = 'infrastructure' | 'out of memory' | 'own';

const serverErrors = /unexpected (HTTP )?status.*: 5\d\d\b/i;
const lostConnections =
  /code = Unavailable|error reading from server|transport is closing|connection (refused|reset by peer)|context canceled/;
const noRoom = /no space left on device/i;
/** buildkitd frees a build's disk space a minute after its end. */
const roomComesBackMs = 70_000;

/** Matches that a builder did not answer at all. */
const silentBuilder = /i\/o timeout|no route to host|deadline exceeded/i;
/** Kubernetes takes up to 50 s to notice that the builder's node is lost. */
const lossIsNoticedMs = 30_000;

/** Classifies a failure by buildctl's last message; the output of a step is never considered. */
function buildCategory(lines: readonly string[]): Readiness {
  const last = lines.findLast((line) => line.startsWith('error: ')) ?? '';
  if (/did not complete successfully/.test(last)) {
    return /exit code: 137$|signal: killed$/.test(last.trimEnd()) ? 'out of memory' : 'own';
  }
  const isOthers = [serverErrors, lostConnections, noRoom, silentBuilder].some((words) => words.test(last));
  return isOthers ? 'infrastructure' : 'own';
}

function cloneCategory(lines: readonly string[]): Readiness {
  const lost =
    /Could not resolve host|Failed to connect|did not respond|could not be resolved|Connection (refused|reset|timed out)|hung up|early EOF|error: 5\d\d/;
  // git's last message is often a consequence of the one before.
  return lines.some((line) => /^(fatal|error): /.test(line) && lost.test(line)) ? 'infrastructure' : 'own';
}

/**
 * Returns what prevents the pod from starting, if anything: an image that cannot be pulled, a cluster without capacity.
 */
export function obstacleOf(pod: Pod): string | undefined {
  const containers = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { state, image } of containers) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (/ErrImagePull|ImagePullBackOff|InvalidImageName/.test(reason))
      return `the image ${image} cannot be pulled. Ask an administrator to check it`;
    if (/^Create\w+Error$/.test(reason)) return `${reason}: ${message}`;
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  const why = (scheduled.message ?? scheduled.reason ?? '').replace(/\.$/, '');
  return `no node can run the build yet: ${why}. If this lasts, ask an administrator to add nodes`;
}
