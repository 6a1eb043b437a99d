import { LABELS } from '../../../crds/labels.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { KnownEnvironment, Route } from '../../../waker-protocol/messages.ts';
import { routesByHost } from '../objects/hosts.ts';
import type { WorkloadContext } from '../objects/input.ts';
import { publicPorts } from '../objects/service.ts';
import { publicServices } from '../objects/waker-slices.ts';
import { isReady } from './ready-pods.ts';

/** The part of what a waker knows about an environment that its services determine. */
export type PublicFront = Pick<KnownEnvironment, 'hosts' | 'backends'>;

/** Returns the routes of an environment, and the ready pods of its public services. */
export function publicFront(context: WorkloadContext, pods: Pick<Informer<Pod>, 'byIndex'>): PublicFront {
  const hosts: Record<string, Route[]> = {};
  for (const [host, routes] of routesByHost(context)) {
    hosts[host] = routes.map(({ path, service, port }) => ({ path, service, port }));
  }
  // Callers inside the cluster name the Service.
  for (const service of publicServices(context)) {
    const [port] = publicPorts(context, service);
    if (port === undefined) continue;
    for (const suffix of ['', '.svc', '.svc.cluster.local']) {
      hosts[`${service}.${context.namespace}${suffix}`] = [{ path: '/', service, port }];
    }
  }
  const ready = pods.byIndex('namespace', context.namespace).filter(isReady);
  const backends = Object.fromEntries(
    publicServices(context).map((service) => [
      service,
      ready
        .filter(({ metadata }) => metadata.labels?.[LABELS.service] === service)
        .flatMap(({ status }) => status?.podIP ?? [])
        .sort(),
    ]),
  );
  return { hosts, backends };
}
