import type { Job, Pod } from '../../kubernetes/resource-type.ts';
import { CLONE_CONTAINER } from './job.ts';

function condition(job: Job, type: string) {
  return (job.status?.conditions ?? []).find((one) => one.type === type && one.status === 'True');
}

export function isFailed(job: Job): boolean {
  return condition(job, 'Failed') !== undefined;
}

export function isFinished(job: Job): boolean {
  return isFailed(job) || condition(job, 'Complete') !== undefined;
}

const mostLines = 12;

/** Why the Job failed, in words for the repository's author. */
export function buildFailure(job: Job, pod: Pod | undefined, deadlineSeconds: number): string {
  if (condition(job, 'Failed')?.reason === 'DeadlineExceeded') {
    return `the build took longer than ${deadlineSeconds} s and was ended`;
  }
  const containers = [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
  const failures = containers.flatMap(({ name, state }) => {
    const { exitCode, reason, message } = state?.terminated ?? {};
    if (exitCode === undefined || exitCode === 0) return [];
    const what = name === CLONE_CONTAINER ? 'the clone' : `the build of service ${name.replace(/^build-/, '')}`;
    const why = reason === 'OOMKilled' ? 'it ran out of memory' : `exit code ${exitCode}`;
    const log = (message ?? '').trimEnd().split('\n').slice(-mostLines).join('\n');
    return [`${what} failed (${why})${log ? `:\n${log}` : ''}`];
  });
  if (failures.length > 0) return failures.join('\n').slice(0, 4000);
  return `the build's pod failed: ${pod?.status?.message ?? condition(job, 'Failed')?.message ?? 'it is gone'}`;
}
