import { LABELS } from '../../../crds/labels.ts';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { EndpointSlice, type Pod } from '../../../kubernetes/resource-type.ts';
import type { WorkloadContext } from '../objects/input.ts';
import { publicServices, SLICE_LABELS, SLICE_MANAGER, wakerSlice } from '../objects/waker-slices.ts';
import { WorkloadObjects, type WorkloadClient } from '../objects/workload-objects.ts';
import { isReady } from './ready-pods.ts';

export interface WakerCaches {
  endpointSlices: Informer<EndpointSlice>;
  /** Pods of the waker. */
  wakerPods: Informer<Pod>;
}

/** Puts the waker's pods behind public services, and takes them away. */
export class WakerFront {
  readonly #client: WorkloadClient;
  readonly #slices: WorkloadObjects<EndpointSlice>;
  readonly #pods: Informer<Pod>;

  constructor(client: WorkloadClient, applier: Applier, { endpointSlices, wakerPods }: WakerCaches) {
    this.#client = client;
    this.#slices = new WorkloadObjects(client, applier, EndpointSlice, endpointSlices);
    this.#pods = wakerPods;
  }

  /**
   * Puts the waker behind the public services: alone while they are stopped, and where visitors are led while they run.
   * Without a ready pod of it, a slice keeps the former ones.
   */
  async add(context: WorkloadContext, state: { isRunning: boolean }): Promise<void> {
    const wakers = this.#readyWakers();
    if (wakers.length === 0) return;
    await Promise.all(
      publicServices(context).map((service) => this.#slices.apply(wakerSlice(context, service, wakers, state))),
    );
  }

  /** Whether the waker is behind one of the public services. */
  isThere({ namespace }: WorkloadContext): boolean {
    return this.#slices.in(namespace).length > 0;
  }

  /**
   * Takes the waker away from the services whose own pods Kubernetes has put behind them: between the two, requests would
   * find nobody.
   */
  async remove(context: WorkloadContext, services: ReadonlySet<string>): Promise<void> {
    for (const slice of this.#slices.in(context.namespace)) {
      const service = slice.metadata.labels?.[LABELS.service] ?? '';
      if (services.has(service) && (await this.#hasOwnEndpoints(context.namespace, service, slice))) {
        await this.#slices.delete(slice);
      }
    }
  }

  /** Deletes slices of services that are no longer public. */
  async prune(context: WorkloadContext): Promise<void> {
    const kept = new Set(publicServices(context));
    await this.#slices.prune(context.namespace, ({ metadata }) => kept.has(metadata.labels?.[LABELS.service] ?? ''));
  }

  #readyWakers(): Pod[] {
    return this.#pods
      .list()
      .filter(isReady)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** Whether Kubernetes' own slices have a ready endpoint for each port of the waker's. */
  async #hasOwnEndpoints(namespace: string, service: string, slice: EndpointSlice): Promise<boolean> {
    const labelSelector = `${SLICE_LABELS.service}=${service},${SLICE_LABELS.managedBy}!=${SLICE_MANAGER}`;
    const { items } = await this.#client.list(EndpointSlice, { namespace, labelSelector });
    return (slice.ports ?? []).every(({ name }) =>
      items.some(
        ({ ports, endpoints }) =>
          ports?.some((port) => port.name === name) === true &&
          (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false),
      ),
    );
  }
}
