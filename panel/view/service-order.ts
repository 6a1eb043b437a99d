interface Named {
  name: string;
  dependsOn?: string[];
}

/** Sorts services so that each follows its dependencies, and otherwise keeps their order. */
export function inDependencyOrder<Service extends Named>(services: readonly Service[]): Service[] {
  const byName = new Map(services.map((service) => [service.name, service]));
  const ordered = new Set<Service>();
  const visiting = new Set<Service>();
  const visit = (service: Service) => {
    if (ordered.has(service) || visiting.has(service)) return;
    visiting.add(service);
    for (const name of service.dependsOn ?? []) {
      const needed = byName.get(name);
      if (needed) visit(needed);
    }
    ordered.add(service);
  };
  for (const service of services) visit(service);
  return [...ordered];
}

/** Returns the length of the longest chain of dependencies of a service; 0 if it has none. */
export function depthOf(services: readonly Named[], name: string, above: readonly string[] = []): number {
  if (above.includes(name)) return 0;
  const needed = services.find((service) => service.name === name)?.dependsOn ?? [];
  return Math.max(0, ...needed.map((one) => 1 + depthOf(services, one, [...above, name])));
}
