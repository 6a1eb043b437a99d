import type { ServiceFile } from '../../../../service-file/schema.ts';

/** Returns the services for this installation: those without a platform get its default. */
export function onPlatform(serviceFile: ServiceFile, platform: string | undefined): ServiceFile {
  if (platform === undefined) return serviceFile;
  return {
    ...serviceFile,
    services: serviceFile.services.map((service) => ({ ...service, platform: service.platform ?? platform })),
  };
}
