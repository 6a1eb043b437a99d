import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { FileBundle, Mount, Service } from '../../../service-file/schema.ts';
import type { WorkloadInput } from './input.ts';
import { claimName } from './volumes.ts';

type PodSpec = NonNullable<Pod['spec']>;
type PodVolume = NonNullable<PodSpec['volumes']>[number];
type VolumeMount = NonNullable<PodSpec['containers'][number]['volumeMounts']>[number];

/**
 * In a volume, below its root: a fresh file system's own `lost+found` is not in the way of what wants an empty folder,
 * and a service that changes its folder's mode does not make the kubelet walk through the whole volume at each start.
 */
export const FOLDER_IN_VOLUME = 'data';

/** What a service's container mounts, and the pod's volumes for it. */
export function mounts(input: WorkloadInput, service: Service): { volumes: PodVolume[]; volumeMounts: VolumeMount[] } {
  const volumes = new Map<string, PodVolume>();
  const volumeMounts = service.mounts.flatMap((mount, index) => {
    const made = mountOf(mount, index, service, input.serviceFile.bundles);
    if (!made) return [];
    volumes.set(made.volume.name, made.volume);
    return [{ name: made.volume.name, mountPath: mount.target, ...made.how }];
  });
  return { volumes: [...volumes.values()], volumeMounts };
}

interface MadeMount {
  volume: PodVolume;
  how: Omit<VolumeMount, 'name' | 'mountPath'>;
}

function mountOf(mount: Mount, index: number, service: Service, bundles: readonly FileBundle[]): MadeMount | undefined {
  if (mount.type === 'volume') {
    const name = claimName(mount.volume);
    const subPath = mount.subPath === undefined ? FOLDER_IN_VOLUME : `${FOLDER_IN_VOLUME}/${mount.subPath}`;
    return {
      volume: { name, persistentVolumeClaim: { claimName: name } },
      how: { subPath, ...(mount.readOnly && { readOnly: true }) },
    };
  }
  if (mount.type === 'empty') {
    const { memory, size } = mount;
    // An anonymous volume starts with what the image has at that path: as the container's own file system does.
    if (!memory && !service.readOnly) return undefined;
    const emptyDir = { ...(memory && { medium: 'Memory' }), ...(size !== undefined && { sizeLimit: size }) };
    return { volume: { name: `empty-${index}`, emptyDir }, how: {} };
  }
  const bundle = bundles.find(({ name }) => name === mount.bundle);
  if (!bundle) throw new Error(`the service file has no files ${mount.bundle}`);
  const path = bundle.files.find(({ key }) => key === mount.key)?.path;
  return { volume: bundleVolume(bundle), how: { readOnly: true, ...(path !== undefined && { subPath: path }) } };
}

function bundleVolume({ name, secret, files }: FileBundle): PodVolume {
  const items = files.map(({ key, path, mode }) => ({ key, path, mode }));
  return secret ? { name, secret: { secretName: name, items } } : { name, configMap: { name, items } };
}

/** The named volumes that a service mounts, each once. */
export function namedVolumes({ mounts: all }: Service): string[] {
  return [...new Set(all.flatMap((mount) => (mount.type === 'volume' ? [mount.volume] : [])))];
}

/** Two pods at once could spoil what such a service keeps: a database's files, most of all. */
export function writesVolumes({ mounts: all }: Service): boolean {
  return all.some((mount) => mount.type === 'volume' && !mount.readOnly);
}
