import { findCondition } from '../../../crds/conditions.ts';
import type { Repository } from '../../../crds/repository.ts';
import type { EventNote } from '../../../kubernetes/event-recorder.ts';
import { requestEvents, failureEvents } from './failure-events.ts';

type RepositoryStatus = NonNullable<Repository['status']>;

const warnings = new Set(['CredentialsMissing', 'KeyNotAccepted', 'SshKeyMissing', 'Retrying']);

/** Returns the events for a Repository that changed from `old` to `now`; none unless its refs or a failure is new. */
export function repositoryEvents(old: Repository | undefined, now: Repository): EventNote[] {
  const before = old?.status ?? {};
  const after = now.status ?? {};
  return [
    ...readableEvents(before, after),
    ...syncEvents(before, after),
    ...failureEvents(before, after, warnings),
    ...requestEvents(before, after),
  ];
}

function readableEvents(before: RepositoryStatus, after: RepositoryStatus): EventNote[] {
  const ready = findCondition(after.conditions, 'Ready');
  if (ready?.status !== 'True' || findCondition(before.conditions, 'Ready')?.status === 'True') return [];
  return [{ type: 'Normal', reason: ready.reason, note: ready.message }];
}

/** Returns an event when `sync.at` has changed: a sync found a change, or was requested. */
function syncEvents(before: RepositoryStatus, after: RepositoryStatus): EventNote[] {
  const synced = findCondition(after.conditions, 'Synced');
  const was = findCondition(before.conditions, 'Synced');
  if (!synced || synced.status === 'Unknown') return [];
  if (synced.status === 'False') {
    const isReported = was?.status === synced.status && was.reason === synced.reason;
    return isReported
      ? []
      : [{ type: synced.reason === 'Suspended' ? 'Normal' : 'Warning', reason: synced.reason, note: synced.message }];
  }
  if (was?.status === 'True' && was.reason === synced.reason && countsOf(before) === countsOf(after)) return [];
  return [{ type: 'Normal', reason: synced.reason, note: `${synced.message}: ${countsOf(after)}` }];
}

function countsOf({ sync }: RepositoryStatus): string {
  if (!sync) return 'refs were not counted';
  const { branches, tags, pullRequests } = sync;
  const open = pullRequests === undefined ? '' : `, ${pullRequests} open pull requests`;
  return `${branches} branches, ${tags} tags${open}`;
}
