import { z } from 'zod';
import { environmentNamespace } from '../../crds/environment-address.ts';
import type { ResourceId } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { quantityValue } from '../../kubernetes/quantity.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { RecentReads } from '../cluster/recent-reads.ts';
import { unixSecondsOf } from '../shared/unix-seconds.ts';

/** What the metrics API (metrics.k8s.io) reports of a pod. */
export interface PodMetrics extends KubernetesObject {
  timestamp: string;
  containers: { name: string; usage: { cpu: string; memory: string } }[];
}
export const POD_METRICS: ResourceType<PodMetrics> = {
  ...{ group: 'metrics.k8s.io', version: 'v1beta1', kind: 'PodMetrics', plural: 'pods', namespaced: true },
};

/** metrics-server measures every 15 s. */
export const maxAgeMs = 10_000;
export const timeoutMs = 5000;

/** What the services of an environment use. */
export const usageSchema = z
  .discriminatedUnion('measured', [
    z.object({
      measured: z.literal(true),
      at: z.int().meta({ description: 'When it was measured, in Unix seconds; 0 without pods.' }),
      services: z.array(
        z.object({
          name: z.string(),
          cpu: z.number().meta({ description: 'In cores.' }),
          memory: z.number().meta({ description: 'In bytes.' }),
          pods: z.int(),
        }),
      ),
    }),
    z.object({ measured: z.literal(false), reason: z.string() }),
  ])
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usageSchema>;

/** Reads what services use, in clusters that measure it. */
export class UsageReader {
  readonly #cluster: Pick<ClusterClient, 'list'>;
  readonly #reads = new RecentReads<Usage>({ maxAgeMs, max: 500, maxConcurrent: 8 });

  constructor(cluster: Pick<ClusterClient, 'list'>) {
    this.#cluster = cluster;
  }

  /** @param uid of the Environment */
  read(id: ResourceId, uid: string): Promise<Usage> {
    return this.#reads.get(uid, () => this.#list(id, uid));
  }

  async #list(id: ResourceId, uid: string): Promise<Usage> {
    const labelSelector = `${LABELS.environmentUid}=${uid},${LABELS.service}`;
    try {
      const namespace = environmentNamespace(id);
      const { items } = await this.#cluster.list(POD_METRICS, { namespace, labelSelector, timeoutMs });
      return usageOf(items);
    } catch (error) {
      return unmeasured(error);
    }
  }
}

/** Returns the answer without metrics-server. @throws the error if it has another cause */
export function unmeasured(error: unknown): { measured: false; reason: string } {
  // Without metrics-server the API group is missing; while it does not respond, the API server answers 503.
  if (!(error instanceof ApiError && [403, 404, 503].includes(error.code))) throw error;
  const reason = 'this cluster does not measure pods. Ask an administrator to install metrics-server';
  return { measured: false, reason };
}

/** Returns what the containers of pods use together: CPU in cores, memory in bytes. */
export function sumOf(pods: readonly PodMetrics[]): { cpu: number; memory: number } {
  const containers = pods.flatMap((pod) => pod.containers);
  const sum = (part: 'cpu' | 'memory') =>
    containers.reduce((total, { usage }) => total + quantityValue(usage[part]), 0);
  return { cpu: sum('cpu'), memory: sum('memory') };
}

/** Returns when the newest pod was measured, in Unix seconds; 0 without pods. */
export function measuredAt(pods: readonly PodMetrics[]): number {
  return pods.reduce((newest, { timestamp }) => Math.max(newest, unixSecondsOf(timestamp)), 0);
}

/** Returns the sums by service. */
export function usageOf(pods: readonly PodMetrics[]): Usage {
  const byService = Map.groupBy(pods, ({ metadata }) => metadata.labels?.[LABELS.service] ?? '');
  const services = [...byService].map(([name, ofService]) => ({ name, ...sumOf(ofService), pods: ofService.length }));
  return {
    measured: true,
    at: measuredAt(pods),
    services: services.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
