import { environmentAliasHost, environmentHost } from '../../../crds/environment-address.ts';
import type { PublicRoute } from '../../../service-file/schema.ts';
import type { WorkloadContext } from './input.ts';

/** Returns the public routes by their host: the environment's, and one for each alias. */
export function routesByHost({ id, serviceFile, settings }: WorkloadContext): Map<string, PublicRoute[]> {
  const { hostname: domain } = settings.environmentsUrl;
  return Map.groupBy(serviceFile.publicRoutes, ({ alias }) =>
    alias === undefined ? environmentHost(id, domain) : environmentAliasHost(id, alias, domain),
  );
}
