import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { FileBundle, Mount, Service } from '../../../service-file/schema.ts';
import { storedAt } from '../../../service-file/stored-file.ts';
import type { WorkloadInput } from './input.ts';
import { claimName } from './volumes.ts';

type PodSpec = NonNullable<Pod['spec']>;
type PodVolume = NonNullable<PodSpec['volumes']>[number];
type VolumeMount = NonNullable<PodSpec['containers'][number]['volumeMounts']>[number];

/**
 * Services mount this folder of a volume instead of its root: a new file system's `lost+found` is then not in the way
 * of programs that need an empty folder, and a changed mode of the folder does not make the kubelet change the whole
 * volume at each start.
 */
export const FOLDER_IN_VOLUME = 'data';

/** Returns the mounts of a service's container and the pod's volumes for them. */
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
    // An anonymous volume starts with the image's files at its path, as the container's own file system does.
    if (!memory && !service.readOnly) return undefined;
    const emptyDir = { ...(memory && { medium: 'Memory' }), ...(size !== undefined && { sizeLimit: size }) };
    return { volume: { name: `empty-${index}`, emptyDir }, how: {} };
  }
  const bundle = bundles.find(({ name }) => name === mount.bundle);
  if (!bundle) throw new Error(`the service file has no files ${mount.bundle}`);
  const path = bundle.files.find(({ key }) => key === mount.key)?.path;
  return { volume: bundleVolume(bundle), how: { readOnly: true, ...(path !== undefined && { subPath: path }) } };
}

function bundleVolume(bundle: FileBundle): PodVolume {
  const { name, secret, files } = bundle;
  const objects = [...Map.groupBy(files, (file) => storedAt(bundle, file).object)].map(([object, together]) => ({
    object,
    items: together.map((file) => ({ key: storedAt(bundle, file).key, path: file.path, mode: file.mode })),
  }));
  const [first, ...others] = objects;
  if (!first) return { name, emptyDir: {} };
  if (others.length === 0) {
    const { object, items } = first;
    return secret ? { name, secret: { secretName: object, items } } : { name, configMap: { name: object, items } };
  }
  const sources = objects.map(({ object, items }) => ({ [secret ? 'secret' : 'configMap']: { name: object, items } }));
  return { name, projected: { sources } };
}

/** Returns the named volumes that a service mounts, each once. */
export function namedVolumes({ mounts: all }: Service): string[] {
  return [...new Set(all.flatMap((mount) => (mount.type === 'volume' ? [mount.volume] : [])))];
}

/**
 * Returns whether the service writes to volumes: two pods at the same time could corrupt the data, for example of a
 * database.
 */
export function writesVolumes({ mounts: all }: Service): boolean {
  return all.some((mount) => mount.type === 'volume' && !mount.readOnly);
}
