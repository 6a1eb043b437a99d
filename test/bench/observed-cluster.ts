import { z } from 'zod';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { ClusterClient } from '../../kubernetes/client.ts';
import { HttpTransport } from '../../kubernetes/http-transport.ts';
import { loadKubeConfig } from '../../kubernetes/kube-config.ts';
import { Pod } from '../../kubernetes/resource-type.ts';
import { Problem } from '../support/problem.ts';
import { samplesOf, sumOf } from './metrics-page.ts';

const systemNamespace = 'coppice-system';
export const BUILDER_NAMESPACE = 'coppice-builders';
const metricsPort = 3001;
const writeVerbs = ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION'];

/** Writes since the API server started, by `resource` or `resource/subresource`. */
export type Writes = ReadonlyMap<string, number>;

/** Resource usage of one process. */
export interface Usage {
  cpuSeconds: number;
  memoryMiB: number;
  /** Requests to the API server, by method. */
  requests: Record<string, number>;
}

/** Observes the API server, and the metrics of Coppice's processes. */
export class ObservedCluster {
  readonly client: ClusterClient;
  readonly #transport: HttpTransport;

  constructor(kubeconfig: string) {
    process.env['KUBECONFIG'] = kubeconfig;
    const config = loadKubeConfig();
    this.client = new ClusterClient(config, { userAgent: 'coppice-bench' });
    this.#transport = new HttpTransport(config, 'coppice-bench');
  }

  close(): void {
    this.client.close();
    this.#transport.close();
  }

  /** Returns all writes at the API server by any client, except those of Leases. */
  async writes(): Promise<Writes> {
    const counts = new Map<string, number>();
    for (const { labels, value } of samplesOf(await this.#page('/metrics'), 'apiserver_request_total')) {
      const { verb = '', resource = '', subresource = '' } = labels;
      if (!writeVerbs.includes(verb) || resource === 'leases') continue;
      const what = subresource === '' ? resource : `${resource}/${subresource}`;
      counts.set(what, (counts.get(what) ?? 0) + value);
    }
    return counts;
  }

  /** Returns how many objects were stored in etcd, without Events and Leases, up to 132 s ago. */
  async storedObjects(): Promise<number> {
    const samples = samplesOf(await this.#page('/metrics'), 'apiserver_resource_objects');
    const counted = samples.filter(({ labels }) => !['events', 'leases'].includes(labels['resource'] ?? ''));
    return counted.reduce((sum, { value }) => sum + value, 0);
  }

  /** Returns the names of a Deployment's pods that are not terminating. */
  async pods(name: string): Promise<string[]> {
    return (await this.#pods(name)).map(({ metadata }) => metadata.name);
  }

  /** Returns those of its pods to which requests are routed. */
  async readyPods(name: string): Promise<string[]> {
    const isReady = ({ status }: Pod) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true;
    return (await this.#pods(name)).filter(isReady).map(({ metadata }) => metadata.name);
  }

  /** Returns whether a builder is running: it is stopped `builder.idleSeconds` after a build. */
  async hasBuilders(): Promise<boolean> {
    return (await this.client.list(Pod, { namespace: BUILDER_NAMESPACE })).items.length > 0;
  }

  /** Returns whether there is a repository whose refs have not been listed: the first listing writes its status. */
  async hasNewRepositories(): Promise<boolean> {
    const { items } = await this.client.list<Repository>(REPOSITORY);
    return items.some(({ spec, status }) => spec.suspend !== true && status?.sync === undefined);
  }

  async metrics(pod: string): Promise<string> {
    return this.#page(`/api/v1/namespaces/${systemNamespace}/pods/${pod}:${metricsPort}/proxy/metrics`);
  }

  /**
   * Returns for each pod of a Deployment the CPU time and requests since its start, and its memory. Child processes are
   * not included.
   */
  async usage(name: string): Promise<Usage[]> {
    const pages = await Promise.all((await this.pods(name)).map((pod) => this.metrics(pod)));
    return pages.map((page) => ({
      cpuSeconds: sumOf(page, 'process_cpu_seconds_total'),
      memoryMiB: sumOf(page, 'process_resident_memory_bytes') / 2 ** 20,
      requests: requestsOn(page),
    }));
  }

  /** Returns whether a pod exists, terminating or not. */
  async hasPod(name: string): Promise<boolean> {
    return (await this.client.find(Pod, { namespace: systemNamespace, name })) !== undefined;
  }

  /** Deletes a pod; its Deployment creates another one. */
  async endPod(name: string): Promise<void> {
    await this.client.delete(Pod, { namespace: systemNamespace, name });
  }

  async #pods(name: string): Promise<Pod[]> {
    const labelSelector = `app.kubernetes.io/name=${name}`;
    const { items } = await this.client.list(Pod, { namespace: systemNamespace, labelSelector });
    return items.filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  async #page(path: string): Promise<string> {
    const text = z.string().safeParse(await this.#transport.request({ method: 'GET', path, timeoutMs: 30_000 }));
    if (!text.success) throw new Problem(`${path} is not a page of metrics`);
    return text.data;
  }
}

function requestsOn(page: string): Record<string, number> {
  const requests: Record<string, number> = {};
  for (const { labels, value } of samplesOf(page, 'rest_client_requests_total')) {
    const { method = '' } = labels;
    requests[method] = (requests[method] ?? 0) + value;
  }
  return requests;
}

/** Returns the writes since then, optionally only of some resources. */
export function writesSince(before: Writes, after: Writes, isMeant: (what: string) => boolean = () => true): number {
  return [...after].reduce((sum, [what, count]) => (isMeant(what) ? sum + count - (before.get(what) ?? 0) : sum), 0);
}

/** Describes which resources were written, and how often. */
export function reportedWrites(before: Writes, after: Writes): string {
  const changed = [...after]
    .map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a);
  return changed.map(([what, count]) => `${what} ${count}`).join(', ') || 'none';
}
