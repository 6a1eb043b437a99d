import { waitFor } from '../support/wait-for.ts';
import type { HostRecord } from '../git-hosts/host-admin.ts';
import type { KindName } from '../git-hosts/kind.ts';
import type { TestRepository } from './test-hosts.ts';

/** Each host's names for the states of a commit; generic has none. */
export const STATES: Record<KindName, { pending: string; success: string; failure: string }> = {
  ownerhost: { pending: 'pending', success: 'success', failure: 'failure' },
  groupedhost: { pending: 'pending', success: 'success', failure: 'failed' },
  cloudorg: { pending: 'pending', success: 'succeeded', failure: 'failed' },
  workspacehost: { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED' },
};

/** Returns the statuses of a context at a commit, in order, when the last one has this state. */
export function statusesAt(
  host: TestRepository,
  { context, commit }: { context: string; commit: string },
  last: string,
  seconds: number,
): Promise<HostRecord['statuses']> {
  return waitFor(`${context} to be ${last} at ${commit}`, seconds, async () => {
    const { statuses = [] } = (await host.record?.()) ?? {};
    const ours = statuses.filter((one) => one.commit === commit && one.context === context);
    if (ours.at(-1)?.state === last) return ours;
    throw new Error(`there are ${JSON.stringify(ours)}`);
  });
}
