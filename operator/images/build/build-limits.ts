import { LABELS } from '../../../crds/labels.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Job } from '../../../kubernetes/resource-type.ts';
import type { Flows } from '../../source/hosts/flows.ts';
import { BuildQueue, BuildQueues, type QueuedBuild } from './build-queue.ts';
import { isFinished } from './job-outcome.ts';

/** How many builds run at once. */
export interface BuildLimits {
  concurrency: { total: number; perGroup: number; perAccount: number };
  /** Maximum number of untrusted builds, each of which has an ephemeral builder. */
  ephemeral: { maxConcurrent: number };
}

/**
 * Creates the queues that enforce the limits, from the existing Jobs; when one ends, the environments of builds that can
 * start are requeued. A limit per account applies to a tenant: the account that created the group through the REST API,
 * or a group that was created otherwise. If there are several ephemeral builders, one tenant cannot use all of them.
 */
export function createBuildQueues(
  jobs: Pick<Informer<Job>, 'list' | 'addHandler'>,
  { concurrency, ephemeral }: BuildLimits,
  flows: Pick<Flows, 'ofGroup'>,
  enqueue: (environmentKey: string) => void,
  now: () => Date,
): BuildQueues {
  const running = (trusted: boolean) => () =>
    jobs.list().flatMap((job) => (isWorking(job) && isTrusted(job) === trusted ? (buildOf(job) ?? []) : []));
  const common = { ownerOf: (group: string) => flows.ofGroup(group), enqueue, now: () => now().getTime() };
  const { total, perGroup, perAccount: perTenant } = concurrency;
  const { maxConcurrent } = ephemeral;
  const queues = new BuildQueues(
    new BuildQueue({ ...common, limits: { total, perTenant, perGroup }, running: running(true) }),
    new BuildQueue({
      ...common,
      limits: { total: maxConcurrent, perTenant: Math.max(1, maxConcurrent - 1) },
      running: running(false),
    }),
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

/** Returns the build of a Job; undefined for the Job of a service. */
function buildOf({ metadata: { labels } }: Job): Pick<QueuedBuild, 'id' | 'group'> | undefined {
  const number = labels?.[LABELS.build];
  if (number === undefined) return undefined;
  return { id: `${labels?.[LABELS.environmentUid] ?? ''}/${number}`, group: labels?.[LABELS.group] ?? '' };
}
