import { LABELS } from '../../crds/labels.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import type { Job } from '../../kubernetes/resource-type.ts';
import type { OperatorConfig } from '../config.ts';
import { BuildQueue, BuildQueues, type QueuedBuild } from './build-queue.ts';
import { isFinished } from './job-outcome.ts';

/** The queues over the Jobs that there are; whose turn it is when one ends, is looked at. */
export function createBuildQueues(
  jobs: Pick<Informer<Job>, 'list' | 'addHandler'>,
  { concurrency, throwaway }: Pick<OperatorConfig['builder'], 'concurrency' | 'throwaway'>,
  enqueue: (environmentKey: string) => void,
  now: () => Date,
): BuildQueues {
  const running = (trusted: boolean) => () =>
    jobs.list().flatMap((job) => (isWorking(job) && isTrusted(job) === trusted ? (buildOf(job) ?? []) : []));
  const common = { enqueue, now: () => now().getTime() };
  const { atOnce } = throwaway;
  const queues = new BuildQueues(
    new BuildQueue({ ...common, limits: concurrency, running: running(true) }),
    new BuildQueue({ ...common, limits: { total: atOnce, perGroup: atOnce }, running: running(false) }),
  );
  jobs.addHandler((type, job) => {
    if (buildOf(job) && (type === 'deleted' || !isWorking(job))) queues.wake();
  });
  return queues;
}

function isWorking(job: Job): boolean {
  return !isFinished(job) && job.metadata.deletionTimestamp === undefined;
}

function isTrusted({ metadata: { labels } }: Job): boolean {
  return labels?.[LABELS.untrusted] !== 'true';
}

/** The build that a Job works on; undefined for a Job of a service. */
function buildOf({ metadata: { labels } }: Job): Pick<QueuedBuild, 'id' | 'group'> | undefined {
  const number = labels?.[LABELS.build];
  if (number === undefined) return undefined;
  return { id: `${labels?.[LABELS.environmentUid] ?? ''}/${number}`, group: labels?.[LABELS.group] ?? '' };
}
