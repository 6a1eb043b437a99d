import type { Ingress } from '../../../kubernetes/resource-type.ts';

/** The hosts that an Ingress answers for: the index `host` of their cache. */
export function hostsOf({ spec }: Ingress): string[] {
  return (spec?.rules ?? []).flatMap(({ host }) => (host === undefined ? [] : [host]));
}

/**
 * Returns the hosts of `desired` that another environment's Ingress answers for. An Ingress that has a host keeps it; of
 * two that have it, as after a race, the older one does, so that both environments come to the same decision. `live` is
 * the environment's own Ingress as it is now.
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

/** Returns the Ingress without these hosts; undefined when it has no other. */
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
