import type { PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import type { Volume } from '../../../service-file/schema.ts';
import type { WorkloadContext, WorkloadInput } from './input.ts';
import { objectMeta, objectName } from './object-meta.ts';

export const SEED_PENDING = 'pending';
export const SEED_DONE = 'done';

/** On a volume's claim, for each service that is to fill it: whether it has. A claim without it is not filled. */
export function seedAnnotation(service: string): string {
  return `seed.coppice.dev/${service}`;
}

const prefix = 'volume';

export function claimName(volume: string): string {
  return objectName(prefix, volume);
}

/** Whether this is a named volume's claim, by its name; not a copy that is being made, say. */
export function isNamedVolume(claim: string): boolean {
  return claim.startsWith(`${prefix}-`);
}

/**
 * The claim of a named volume, made once and left as it is. What seeds a volume is noted when the claim is made: only
 * then is the volume known to be new.
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
      // One node at a time, as every storage class can: the pods that share it are kept together.
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: volume.size ?? size } },
      ...(className !== undefined && { storageClassName: className }),
    },
  };
}

/** Every volume that the file lists or a service mounts. */
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
