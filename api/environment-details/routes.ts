import { z } from 'zod';
import type { Environment } from '../../crds/environment.ts';
import { environmentNamespace } from '../../crds/environment-address.ts';
import type { Group } from '../../crds/group.ts';
import type { Repository } from '../../crds/repository.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import { CoreEvent } from '../../kubernetes/resource-type.ts';
import { canReadValues, reachesGroup } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import type { Directory, EnvironmentTarget } from '../auth/visibility.ts';
import type { OwnVariableSettings } from '../shared/own-variable-settings.ts';
import { RecentReads } from '../cluster/recent-reads.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { integerField } from '../http/parse.ts';
import type { VariableService } from '../variables/variable-service.ts';
import { effectiveVariables, effectiveVariablesSchema } from './effective-variables.ts';
import { eventViews, eventViewSchema, type EventView } from './events-view.ts';
import { UsageReader, usageSchema } from './usage.ts';

export interface EnvironmentDetailsOptions {
  directory: Directory;
  reads: Pick<ClusterClient, 'list'>;
  groupVariables: Pick<VariableService<Group>, 'list'>;
  repositoryVariables: Pick<VariableService<Repository>, 'list'>;
  environmentVariables: Pick<VariableService<Environment>, 'list'>;
  ownVariables: OwnVariableSettings;
}

const maxEvents = 200;
/** A crash loop updates its Events instead of adding some, so only an environment of many objects has more. */
const maxContentEvents = 1000;
const eventsQuery = z.object({ limit: integerField(1, maxEvents).default(50) });
const timeoutMs = 5000;

/** Returns the Events in the namespace of an environment; none where the chart lets members read no pods. */
async function contentEvents(
  reads: Pick<ClusterClient, 'list'>,
  { group, environment }: EnvironmentTarget,
): Promise<CoreEvent[]> {
  if (environment.status?.state === 'empty') return [];
  const namespace = environmentNamespace({ group: group.metadata.name, name: environment.metadata.name });
  try {
    const { items } = await reads.list(CoreEvent, { namespace, limit: maxContentEvents, timeoutMs });
    return items;
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return [];
    throw error;
  }
}

/** Routes (extensions) for the page of an environment: what its own answer does not contain. */
export function environmentDetailRoutes(options: EnvironmentDetailsOptions): Endpoint[] {
  const { directory, reads, groupVariables, repositoryVariables, environmentVariables, ownVariables } = options;
  const path = '/api/environment/{environmentID}';
  const find = (caller: Caller, { environmentID }: { environmentID: string }) =>
    directory.environment(caller, environmentID);
  const usage = new UsageReader(reads);
  const events = new RecentReads<EventView[]>({ maxAgeMs: 2000, max: 500, maxConcurrent: 8 });

  return [
    endpoint({
      method: 'get',
      path: `${path}/events`,
      summary: 'Lists the Kubernetes Events of an environment, newest first (extension)',
      description:
        'Of the Environment, and for callers that can read values of variables also of the objects in its namespace. Kubernetes keeps Events for an hour.',
      find,
      writes: false,
      query: eventsQuery,
      answer: z.array(eventViewSchema),
      run: async ({ caller, target, query: { limit } }) => {
        const { namespace, uid = '' } = target.environment.metadata;
        const fieldSelector = `involvedObject.kind=Environment,involvedObject.uid=${uid}`;
        const found = await events.get(uid, async () => {
          const [own, contents] = await Promise.all([
            reads.list(CoreEvent, { namespace, fieldSelector, timeoutMs }),
            contentEvents(reads, target),
          ]);
          return eventViews([...own.items, ...contents], maxEvents);
        });
        // The output of a health check is part of a pod's Event, and can contain a secret value.
        const shown = canReadValues(caller) ? found : found.filter(({ object }) => object.kind === 'Environment');
        return shown.slice(0, limit);
      },
    }),
    endpoint({
      method: 'get',
      path: `${path}/variables`,
      summary: 'Lists the variables of an environment, and where each is set (extension)',
      find,
      writes: false,
      answer: effectiveVariablesSchema,
      run: async ({ caller, target: { group, environment } }) => {
        const canRead = canReadValues(caller);
        const repository = directory.repositoryOf(environment);
        // A token that is restricted to the repository does not see the group's.
        const seesGroup = reachesGroup(caller.reach, group.metadata.name);
        const [ofGroup, ofRepository, ofEnvironment] = await Promise.all([
          seesGroup ? groupVariables.list(group, canRead) : [],
          repository ? repositoryVariables.list(repository, canRead) : [],
          environmentVariables.list(environment, canRead),
        ]);
        const id = { group: group.metadata.name, name: environment.metadata.name };
        const sources = { group: ofGroup, repository: ofRepository, environment: ofEnvironment, own: ownVariables };
        return effectiveVariables(id, environment, sources);
      },
    }),
    endpoint({
      method: 'get',
      path: `${path}/usage`,
      summary: 'Returns the CPU and memory that the services use, where the cluster measures it (extension)',
      find,
      writes: false,
      answer: usageSchema,
      run: ({ target: { group, environment } }: { target: EnvironmentTarget }) => {
        const { name, uid = '' } = environment.metadata;
        return usage.read({ group: group.metadata.name, name }, uid);
      },
    }),
  ];
}
