import type { ServiceFile } from '../../../../service-file/schema.ts';
import { isInRegistry } from '../../../images/registry/own-registry.ts';
import { Stalled } from '../../../shared/errors.ts';
import { platformLabels } from '../../../shared/scheduling.ts';

/** Returns the services for this installation: those without a platform get its default. */
export function onPlatform(serviceFile: ServiceFile, platform: string | undefined): ServiceFile {
  if (platform === undefined) return serviceFile;
  return {
    ...serviceFile,
    services: serviceFile.services.map((service) => ({ ...service, platform: service.platform ?? platform })),
  };
}

/** A service of another architecture than the permitted nodes would be scheduled where it cannot run. */
export function refuseForeignPlatforms({ services }: ServiceFile, nodeSelector: Record<string, string> = {}): void {
  for (const { name, platform } of services) {
    for (const [label, value] of Object.entries(platformLabels(platform))) {
      const kept = nodeSelector[label];
      if (kept === undefined || kept === value) continue;
      const why = `environments run on nodes with ${label}=${kept} only. Remove the platform, or ask an administrator`;
      throw new Stalled('ServiceFileInvalid', `services.${name}.platform: ${platform} does not run here: ${why}`);
    }
  }
}

/**
 * Refuses images of Coppice's own registry. Nodes can pull every group's images from it, and have some of them already,
 * so a service that named one by the registry's address or by a bare digest could run another group's image.
 */
export function refuseForbiddenImages(serviceFile: ServiceFile, registry: string): void {
  for (const { name, image = '' } of serviceFile.services) {
    const isOwn = isInRegistry(registry, image);
    if (!isOwn && !/^sha256(:|@|$)/i.test(image)) continue;
    const why = isOwn
      ? "is in Coppice's own registry, whose images cannot be referenced. Build it, or name another image"
      : 'is a digest without the name of an image. Write the name, with a tag or the digest, such as redis:7';
    throw new Stalled('ServiceFileInvalid', `services.${name}.image: ${image} ${why}`);
  }
}
