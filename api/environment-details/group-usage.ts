import { z } from 'zod';
import type { Environment } from '../../crds/environment.ts';
import { environmentNamespace } from '../../crds/environment-address.ts';
import type { Group } from '../../crds/group.ts';
import { formatId } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { TooLargeError } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { RecentReads } from '../cluster/recent-reads.ts';
import { environmentDisplayName } from '../environments/environment-view.ts';
import { maxAgeMs, measuredAt, POD_METRICS, sumOf, timeoutMs, unmeasured, type PodMetrics } from './usage.ts';

const maxListed = 10;
/**
 * The metrics API has no pages, and a pod with one container takes about 600 bytes. Two such lists, with what
 * is parsed of them, fit into the memory of the API.
 */
const maxBytes = 4 * 1024 * 1024;

const cpu = z.number().meta({ description: 'In cores.' });
const memory = z.number().meta({ description: 'In bytes.' });

/** What the services of a group's environments use. */
export const groupUsageSchema = z
  .discriminatedUnion('measured', [
    z.object({
      measured: z.literal(true),
      at: z.int().meta({ description: 'When the newest pod was measured, in Unix seconds; 0 without pods.' }),
      ...{ cpu, memory },
      pods: z.int(),
      environments: z.int().meta({ description: 'How many environments have measured pods.' }),
      top: z.array(z.object({ id: z.string(), name: z.string(), cpu, memory, pods: z.int() })).meta({
        description: `The ${maxListed} environments with the largest share of the group's CPU or memory, the largest first.`,
      }),
    }),
    z.object({ measured: z.literal(false), reason: z.string() }),
  ])
  .meta({ id: 'GroupUsage' });
export type GroupUsage = z.infer<typeof groupUsageSchema>;

export interface GroupUsageReaderOptions {
  reads: Pick<ClusterClient, 'list'>;
  /** Returns the environments of a group. */
  environmentsIn: (group: Group) => readonly Environment[];
}

/**
 * Reads what groups use, in clusters that measure it: one list for each group at most every 10 s, two at a time, apart
 * from the reads of single environments, so that an account with many groups delays only other groups' sums.
 */
export class GroupUsageReader {
  readonly #options: GroupUsageReaderOptions;
  readonly #reads = new RecentReads<GroupUsage>({ maxAgeMs, max: 500, maxConcurrent: 2 });

  constructor(options: GroupUsageReaderOptions) {
    this.#options = options;
  }

  read(group: Group): Promise<GroupUsage> {
    return this.#reads.get(group.metadata.uid ?? '', () => this.#list(group));
  }

  async #list(group: Group): Promise<GroupUsage> {
    const { name } = group.metadata;
    try {
      const labelSelector = `${LABELS.group}=${name},${LABELS.environmentUid},${LABELS.service}`;
      const { items } = await this.#options.reads.list(POD_METRICS, { labelSelector, maxBytes, timeoutMs });
      return groupUsageOf(name, this.#options.environmentsIn(group), items);
    } catch (error) {
      if (!(error instanceof TooLargeError)) return unmeasured(error);
      return { measured: false, reason: 'the group has too many pods to sum. Read the usage of single environments' };
    }
  }
}

/**
 * Returns the sums of the group and of its largest environments. Whoever creates pods in another namespace can give
 * them any labels, so a pod counts only in the namespace of the environment whose UID it has.
 */
export function groupUsageOf(
  group: string,
  environments: readonly Environment[],
  pods: readonly PodMetrics[],
): GroupUsage {
  const byNamespace = Map.groupBy(pods, ({ metadata }) => metadata.namespace);
  const measured = environments.flatMap((environment) => {
    const { name, uid } = environment.metadata;
    const own = (byNamespace.get(environmentNamespace({ group, name })) ?? []).filter(
      ({ metadata }) => metadata.labels?.[LABELS.environmentUid] === uid,
    );
    return own.length === 0 ? [] : [{ environment, own, ...sumOf(own) }];
  });
  const total = sumOf(measured.flatMap(({ own }) => own));
  // CPU and memory have no common unit, but each is a share of the group's.
  const share = (used: { cpu: number; memory: number }) =>
    Math.max(used.cpu / (total.cpu || 1), used.memory / (total.memory || 1));
  return {
    measured: true,
    at: measured.reduce((newest, { own }) => Math.max(newest, measuredAt(own)), 0),
    ...total,
    pods: measured.reduce((sum, { own }) => sum + own.length, 0),
    environments: measured.length,
    top: measured
      .sort((a, b) => share(b) - share(a))
      .slice(0, maxListed)
      .map(({ environment, own, cpu, memory }) => ({
        id: formatId({ group, name: environment.metadata.name }),
        name: environmentDisplayName(environment),
        ...{ cpu, memory, pods: own.length },
      })),
  };
}
