import { environmentAliasHost, environmentHost } from '../../../crds/environment-address.ts';
import type { PublicRoute } from '../../../service-file/schema.ts';
import type { WorkloadContext } from './input.ts';

/**
 * ingress-nginx asks nobody about requests below the first path (its setting `no-auth-locations`), and leads the second
 * one, to which visitors bring tokens, to the API.
 */
const unguardedPaths = ['/.well-known/acme-challenge', '/.coppice'];

/**
 * Returns the public routes by their host: the environment's, and one for each alias. A path that a commit names must not
 * be open because of that: requests for it take the route of a shorter one.
 */
export function routesByHost({ id, serviceFile, settings }: WorkloadContext): Map<string, PublicRoute[]> {
  const { hostname: domain } = settings.environmentsUrl;
  const isNginx = settings.ingress.enforcement?.by === 'ingress-nginx';
  const routes = serviceFile.publicRoutes.filter(
    ({ path }) => !isNginx || !unguardedPaths.some((one) => path.startsWith(one)),
  );
  return Map.groupBy(routes, ({ alias }) =>
    alias === undefined ? environmentHost(id, domain) : environmentAliasHost(id, alias, domain),
  );
}
