import { environmentAliasUrl, environmentUrl } from '../../../crds/environment-address.ts';
import type { Service } from '../../../service-file/schema.ts';
import { isJob, type WorkloadContext } from '../objects/input.ts';
import type { ServiceFacts } from './progress.ts';

/** Returns the service's settings in the service file that statuses show. */
export function serviceFacts({ id, serviceFile, settings }: WorkloadContext, service: Service): ServiceFacts {
  const { ports, dependsOn, name } = service;
  const origin = serviceFile.services.find((one) => one.name === service.imageOf) ?? service;
  const addresses = serviceFile.publicRoutes
    .filter((route) => route.service === name)
    .map(({ alias, path }) => {
      const { environmentsUrl } = settings;
      const base =
        alias === undefined ? environmentUrl(environmentsUrl, id) : environmentAliasUrl(environmentsUrl, id, alias);
      return `${base}${path.slice(1)}`;
    });
  return {
    ...(isJob(service) && { job: true as const }),
    ...(origin.build && { built: true as const }),
    ...(ports.length > 0 && { ports }),
    ...(dependsOn.length > 0 && { dependsOn: dependsOn.map((dependency) => dependency.service) }),
    ...(addresses.length > 0 && { addresses }),
  };
}
