import { accessFilters } from './access.ts';
import { routesByHost } from './hosts.ts';
import type { HttpRoute } from '../../../kubernetes/resource-type.ts';
import type { WorkloadContext } from './input.ts';
import { objectMeta, objectName } from './object-meta.ts';
import { visitedPort } from './service.ts';

const routeName = 'web';
/** Maximum number of rules in an HTTPRoute; a Gateway merges the rules of several routes of one host. */
const maxRules = 16;

/** Returns the HTTPRoutes for the environment's host and its aliases. TLS is terminated at the Gateway. */
export function httpRoutes(context: WorkloadContext): HttpRoute[] {
  const filters = accessFilters(context);
  const { parentRefs = [] } = context.settings.ingress;
  return [...routesByHost(context)].flatMap(([host, routes]) => {
    const alias = routes[0]?.alias;
    const name = alias === undefined ? routeName : objectName(routeName, alias);
    const count = Math.ceil(routes.length / maxRules);
    return Array.from({ length: count }, (_, part): HttpRoute => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      // No alias contains the dot.
      metadata: objectMeta(context, part === 0 ? name : `${name}.${part + 1}`),
      spec: {
        parentRefs,
        hostnames: [host],
        rules: routes.slice(part * maxRules, (part + 1) * maxRules).map(({ path, service, port }) => ({
          matches: [{ path: { type: 'PathPrefix', value: path } }],
          ...(filters && { filters }),
          backendRefs: [{ name: service, port: visitedPort(context, service, port) }],
        })),
      },
    }));
  });
}

/** Returns why Gateways do not accept a route, as far as they have reported on its current version. */
export function refusals({ metadata, spec, status }: HttpRoute): string[] {
  return (status?.parents ?? []).flatMap(({ parentRef, conditions = [] }) =>
    conditions
      .filter(({ type, status: is }) => type === 'Accepted' && is === 'False')
      .filter(
        ({ observedGeneration }) => observedGeneration === undefined || observedGeneration === metadata.generation,
      )
      .map(({ reason, message }) => {
        const gateway = `${parentRef.namespace ?? metadata.namespace ?? ''}/${parentRef.name}`;
        return `${spec.hostnames.join(', ')}: the Gateway ${gateway} refuses the route (${reason}): ${message}`;
      }),
  );
}
