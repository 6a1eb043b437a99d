import type { PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import type { Volume } from '../../../service-file/schema.ts';
import type { WorkloadContext, WorkloadInput } from './input.ts';
import { objectMeta, objectName } from './object-meta.ts';

export const SEED_PENDING = 'pending';
export const SEED_DONE = 'done';

/**
 * Returns the annotation of a volume's claim that records whether a service has seeded it. A claim without it is not
 * seeded.
 */
export function seedAnnotation(service: string): string {
  return `seed.coppice.dev/${service}`;
}

const prefix = 'volume';

export function claimName(volume: string): string {
  return objectName(prefix, volume);
}

/** Returns whether a claim's name is that of a named volume, as opposed to a copy in progress, for example. */
export function isNamedVolume(claim: string): boolean {
  return claim.startsWith(`${prefix}-`);
}

/**
 * Returns the claim of a named volume, which is created once and never changed. The services that seed it are recorded
 * at creation, when the volume is known to be new.
 */
export function claim(context: WorkloadContext, volume: Volume): PersistentVolumeClaim {
  const { size, storageClass } = context.settings.volumes;
  const className = volume.storageClass ?? storageClass;
  const annotations = Object.fromEntries(
    seedsOf(context, volume.name).map((name) => [seedAnnotation(name), SEED_PENDING]),
  );
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...objectMeta(context, claimName(volume.name)), annotations },
    spec: {
      // All storage classes support this mode; pods that share the volume are scheduled to one node.
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: volume.size ?? size } },
      ...(className !== undefined && { storageClassName: className }),
    },
  };
}

/** Returns every volume that the service file lists or a service mounts. */
export function volumesOf({ serviceFile }: Pick<WorkloadInput, 'serviceFile'>): Volume[] {
  const listed = new Set(serviceFile.volumes.map(({ name }) => name));
  const mounted = serviceFile.services
    .flatMap(({ mounts }) => mounts)
    .flatMap((mount) => (mount.type === 'volume' && !listed.has(mount.volume) ? [mount.volume] : []));
  return [...serviceFile.volumes, ...[...new Set(mounted)].map((name) => ({ name }))];
}

function seedsOf({ serviceFile }: WorkloadInput, volume: string): string[] {
  return serviceFile.services
    .filter(({ runs, seeds }) => runs === 'once per volume' && seeds === volume)
    .map(({ name }) => name);
}
