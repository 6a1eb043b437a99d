import type { HttpRoute, Ingress } from '../../../kubernetes/resource-type.ts';

/** An object that publishes hosts. */
export type Published = Ingress | HttpRoute;

/** Returns the hosts of an Ingress or an HTTPRoute, for the index `host` of the cache. */
export function hostsOf(published: Published): string[] {
  if (isRoute(published)) return published.spec.hostnames;
  return (published.spec?.rules ?? []).flatMap(({ host }) => (host === undefined ? [] : [host]));
}

function isRoute(published: Published): published is HttpRoute {
  return published.kind === 'HTTPRoute';
}

/**
 * Returns the hosts of `desired` that belong to another environment's object. An object keeps its hosts; if two have
 * the same host after a race, the older one keeps it, so that both environments decide alike. `live` is the
 * environment's current object.
 */
export function takenHosts(
  desired: Published,
  live: Published | undefined,
  withHost: (host: string) => readonly Published[],
): string[] {
  const mine = new Set(live ? hostsOf(live) : []);
  return hostsOf(desired).filter((host) =>
    withHost(host).some((other) => {
      if (other.metadata.namespace === desired.metadata.namespace) return false;
      return !(live && mine.has(host)) || isOlder(other, live);
    }),
  );
}

/** Returns the Ingress without these hosts; undefined if none remains. */
export function withoutHosts(ingress: Ingress, hosts: readonly string[]): Ingress | undefined {
  if (hosts.length === 0) return ingress;
  const rules = ingress.spec?.rules?.filter(({ host = '' }) => !hosts.includes(host)) ?? [];
  if (rules.length === 0) return undefined;
  const tls = ingress.spec?.tls?.map((entry) => ({
    ...entry,
    hosts: entry.hosts?.filter((host) => !hosts.includes(host)),
  }));
  return { ...ingress, spec: { ...ingress.spec, rules, ...(tls && { tls }) } };
}

function isOlder(one: Published, other: Published): boolean {
  const of = ({ metadata: { creationTimestamp = '', namespace = '' } }: Published) =>
    `${creationTimestamp} ${namespace}`;
  return of(one) < of(other);
}
