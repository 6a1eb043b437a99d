import type { Ingress } from '../../../kubernetes/resource-type.ts';

/** Returns the hosts of an Ingress, for the index `host` of the cache. */
export function hostsOf({ spec }: Ingress): string[] {
  return (spec?.rules ?? []).flatMap(({ host }) => (host === undefined ? [] : [host]));
}

/**
 * Returns the hosts of `desired` that belong to another environment's Ingress. An Ingress keeps its hosts; if two have
 * the same host after a race, the older one keeps it, so that both environments decide alike. `live` is the
 * environment's current Ingress.
 */
export function takenHosts(
  desired: Ingress,
  live: Ingress | undefined,
  withHost: (host: string) => readonly Ingress[],
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

function isOlder(one: Ingress, other: Ingress): boolean {
  const of = ({ metadata: { creationTimestamp = '', namespace = '' } }: Ingress) => `${creationTimestamp} ${namespace}`;
  return of(one) < of(other);
}
