import { isDeepStrictEqual } from 'node:util';
import type { Applier } from '../../../kubernetes/apply.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { HttpRoute, Ingress, keyOf, Middleware } from '../../../kubernetes/resource-type.ts';
import { Waiting } from '../../shared/errors.ts';
import { httpRoutes, refusals } from '../objects/http-routes.ts';
import {
  accessAnnotations,
  accessFilters,
  accessMiddleware,
  GATE_INGRESS,
  gateIngress,
  type AccessContext,
} from '../objects/access.ts';
import { ingress } from '../objects/ingress.ts';
import type { WorkloadContext } from '../objects/input.ts';
import { WorkloadObjects, type WorkloadClient } from '../objects/workload-objects.ts';
import { takenHosts, withoutHosts, type Published } from './taken-hosts.ts';

export interface PublicHostCaches {
  ingresses: Informer<Ingress>;
  /** Only where environments attach to Gateways: a cluster may not have the Gateway API. */
  httpRoutes?: Informer<HttpRoute>;
  /** Only where HTTPRoutes refer to middlewares that restrict access. */
  middlewares?: Informer<Middleware>;
}

/**
 * How often to check whether a host is free, in milliseconds: the deletion of its object requeues only its own
 * environment.
 */
const takenRecheckMs = 30_000;

/** Publishes environments' hosts by HTTPRoutes where there is a cache for them, and by an Ingress elsewhere. */
export class PublicHosts {
  readonly #ingresses: WorkloadObjects<Ingress>;
  readonly #routes: WorkloadObjects<HttpRoute> | undefined;
  readonly #middlewares: WorkloadObjects<Middleware> | undefined;

  constructor(client: WorkloadClient, applier: Applier, caches: PublicHostCaches) {
    const { ingresses, httpRoutes: routes, middlewares } = caches;
    this.#ingresses = new WorkloadObjects(client, applier, Ingress, ingresses);
    this.#routes = routes && new WorkloadObjects(client, applier, HttpRoute, routes);
    this.#middlewares = middlewares && new WorkloadObjects(client, applier, Middleware, middlewares);
  }

  /** Publishes the hosts that no other environment has. Throws Waiting when another environment has one of them. */
  async publish(context: WorkloadContext): Promise<void> {
    await this.#provideMiddleware(context);
    const taken = this.#routes
      ? await publishEach(this.#routes, httpRoutes(context), () => undefined)
      : await publishEach(this.#ingresses, ingressesOf(context), withoutHosts);
    if (taken.length === 0) return;
    const hosts = [...new Set(taken)].join(', ');
    const message = `another environment already answers at ${hosts}. Rename this environment or its aliases, or delete the other one`;
    throw new Waiting('HostTaken', message, takenRecheckMs);
  }

  /**
   * Restricts the access to hosts that are already published, whatever state their services are in: what else changes in
   * the Ingress may wait for a build.
   */
  async restrict(context: AccessContext): Promise<void> {
    if (this.#routes) await this.#restrictRoutes(context, this.#routes);
    else await this.#restrictIngresses(context);
  }

  async #restrictIngresses(context: AccessContext): Promise<void> {
    const wanted = Object.entries(accessAnnotations(context));
    for (const published of this.#ingresses.in(context.namespace)) {
      if (published.metadata.name === GATE_INGRESS) continue;
      const { annotations = {} } = published.metadata;
      const missing = wanted.filter(([name, value]) => annotations[name] !== value);
      if (missing.length > 0) await this.#ingresses.annotate(published, Object.fromEntries(missing));
    }
  }

  async #restrictRoutes(context: AccessContext, routes: WorkloadObjects<HttpRoute>): Promise<void> {
    await this.#provideMiddleware(context);
    const filters = accessFilters(context);
    for (const published of routes.in(context.namespace)) {
      const { rules } = published.spec;
      if (rules.every((rule) => isDeepStrictEqual(rule.filters, filters))) continue;
      await routes.patch(published, { spec: { rules: rules.map((rule) => ({ ...rule, filters })) } });
    }
  }

  /** Routes must not refer to a middleware that is not there. */
  async #provideMiddleware(context: AccessContext): Promise<void> {
    const middleware = accessMiddleware(context);
    if (middleware) await this.#middlewares?.apply(middleware);
  }

  /** Deletes what publishes the environment's hosts. */
  async unpublish(namespace: string): Promise<void> {
    await this.#ingresses.prune(namespace, () => false);
    await this.#routes?.prune(namespace, () => false);
    await this.#middlewares?.prune(namespace, () => false);
  }

  /** Deletes what publishes hosts that the environment no longer has, and Ingresses where HTTPRoutes replace them. */
  async prune(context: WorkloadContext): Promise<void> {
    const { namespace } = context;
    const kept = new Set((this.#routes ? [] : ingressesOf(context)).map(({ metadata }) => metadata.name));
    await this.#ingresses.prune(namespace, ({ metadata }) => kept.has(metadata.name));
    if (!this.#routes) return;
    const routes = new Set(httpRoutes(context).map(({ metadata }) => metadata.name));
    await this.#routes.prune(namespace, ({ metadata }) => routes.has(metadata.name));
    const middleware = accessMiddleware(context)?.metadata.name;
    await this.#middlewares?.prune(namespace, ({ metadata }) => metadata.name === middleware);
  }

  /** Returns why Gateways refuse the environment's hosts. */
  refusals({ namespace }: WorkloadContext): string[] {
    return this.#routes?.in(namespace).flatMap(refusals) ?? [];
  }
}

function ingressesOf(context: WorkloadContext): Ingress[] {
  return [ingress(context), gateIngress(context)].filter((one) => one !== undefined);
}

/** Applies objects without the hosts that other environments have. Returns those hosts. */
async function publishEach<T extends Published>(
  objects: WorkloadObjects<T>,
  desired: readonly T[],
  without: (object: T, hosts: readonly string[]) => T | undefined,
): Promise<string[]> {
  const taken = await Promise.all(
    desired.map(async (one) => {
      const live = objects.cache.get(keyOf(one));
      const hosts = takenHosts(one, live, (host) => objects.cache.byIndex('host', host));
      const rest = hosts.length === 0 ? one : without(one, hosts);
      if (rest) await objects.apply(rest);
      else if (live) await objects.delete(live);
      return hosts;
    }),
  );
  return taken.flat();
}
