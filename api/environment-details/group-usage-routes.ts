import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory } from '../auth/visibility.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { GroupUsageReader, groupUsageSchema } from './group-usage.ts';

export interface GroupUsageRoutesOptions {
  directory: Directory;
  reads: Pick<ClusterClient, 'list'>;
}

/** Route (extension) for what all environments of a group use. */
export function groupUsageRoutes({ directory, reads }: GroupUsageRoutesOptions): Endpoint[] {
  const usage = new GroupUsageReader({ reads, environmentsIn: (group) => directory.environmentsIn(group) });
  return [
    endpoint({
      method: 'get',
      path: '/api/group/{groupID}/usage',
      summary:
        "Returns the CPU and memory that the group's environments use, where the cluster measures it (extension)",
      find: (caller: Caller, { groupID }: { groupID: string }) => directory.group(caller, groupID),
      writes: false,
      answer: groupUsageSchema,
      run: ({ target }) => usage.read(target),
    }),
  ];
}
