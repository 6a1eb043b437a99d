import { LABELS, MANAGED_BY } from '../../../../crds/labels.ts';
import { ApiError } from '../../../../kubernetes/api-error.ts';
import {
  Job,
  objectKey,
  PersistentVolume,
  PersistentVolumeClaim,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
} from '../../../../kubernetes/resource-type.ts';
import { VolumeCopies, type CopyCaches } from '../volume-copies.ts';

type Claim = PersistentVolumeClaim;

/** Applies a JSON merge patch (RFC 7386). */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null ? (target as Record<string, unknown>) : {};
  const merged = Object.entries(patch).map(([key, value]) => [key, merge(base[key], value)] as const);
  const all = { ...base, ...Object.fromEntries(merged) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** Returns the object if the operator's caches select it. */
function ours(object: KubernetesObject | undefined): KubernetesObject | undefined {
  return object?.metadata.labels?.[LABELS.managedBy] === MANAGED_BY ? object : undefined;
}

/** Claims, Jobs and volumes of an API server in memory, with its controllers and a provisioner. */
export class StorageWorld {
  readonly #objects = new Map<string, KubernetesObject>();
  #version = 0;
  /** Volumes that the provisioner has deleted with their data. */
  readonly lost: string[] = [];
  jobsFail = false;

  /** Returns the copies as a newly started operator sees them. */
  copies(): VolumeCopies {
    const cache = (type: ResourceType) => ({
      get: (key: string) => ours(this.#objects.get(`${type.kind} ${key}`)),
      byIndex: (index: string, value: string) =>
        this.all(type)
          .filter((object) => type === PersistentVolume || ours(object))
          .filter(({ metadata }) =>
            index === 'moving' ? metadata.labels?.['coppice.dev/moving'] === value : metadata.namespace === value,
          ),
      observe: () => undefined,
    });
    const caches = {
      jobs: cache(Job),
      pods: { byIndex: () => [] },
      volumeClaims: cache(PersistentVolumeClaim),
      movingVolumes: cache(PersistentVolume),
    };
    const client = {
      create: (type: ResourceType, object: KubernetesObject) => Promise.resolve(this.add(type, object)),
      get: (type: ResourceType, at: ObjectName) => Promise.resolve(this.get(type, at)),
      find: (type: ResourceType, at: ObjectName) => Promise.resolve(this.find(type, at)),
      patch: (type: ResourceType, at: ObjectName, patch: object) => Promise.resolve(this.patch(type, at, patch)),
      delete: (type: ResourceType, at: ObjectName) => Promise.resolve(this.delete(type, at)),
    };
    const settings = { image: 'coppice', deadlineSeconds: 60 };
    return new VolumeCopies(client as never, caches as unknown as CopyCaches, settings);
  }

  all<T extends KubernetesObject>(type: ResourceType<T>): T[] {
    return [...this.#objects].filter(([id]) => id.startsWith(`${type.kind} `)).map(([, object]) => object as T);
  }

  find<T extends KubernetesObject>(type: ResourceType<T>, { namespace, name }: ObjectName): T | undefined {
    return this.#objects.get(`${type.kind} ${objectKey(namespace, name)}`) as T | undefined;
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName): T {
    const found = this.find(type, at);
    if (!found) throw new ApiError('get', 404, 'NotFound', `no ${type.kind} ${at.name}`);
    return found;
  }

  add<T extends KubernetesObject>(type: ResourceType<T>, object: T): T {
    const { namespace, name } = object.metadata;
    const id = `${type.kind} ${objectKey(namespace, name)}`;
    if (this.#objects.has(id)) throw new ApiError('create', 409, 'AlreadyExists', id);
    const made = { ...object, metadata: { uid: `uid-${++this.#version}`, ...object.metadata } };
    this.#objects.set(id, made);
    return made;
  }

  patch<T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName, patch: object): T {
    const patched = merge(this.get(type, at), patch) as T;
    this.#objects.set(`${type.kind} ${objectKey(at.namespace, at.name)}`, patched);
    return patched;
  }

  delete(type: ResourceType, { namespace, name }: ObjectName): void {
    this.#objects.delete(`${type.kind} ${objectKey(namespace, name)}`);
  }

  /** Runs the cluster's controllers until nothing changes: binds, provisions, runs Jobs, deletes released volumes. */
  settle(): void {
    for (const job of this.all(Job)) {
      const { namespace, name } = job.metadata;
      const staging = this.find(PersistentVolumeClaim, { namespace, name });
      if (staging?.spec?.volumeName === undefined && staging) this.#provision(staging);
      const type = this.jobsFail ? 'Failed' : 'Complete';
      this.patch(Job, { namespace, name }, { status: { conditions: [{ type, status: 'True' }] } });
    }
    for (const claim of this.all(PersistentVolumeClaim)) this.#bind(claim);
    for (const { metadata, spec } of this.all(PersistentVolume)) {
      const { uid, namespace, name = '' } = spec?.claimRef ?? {};
      const isReleased =
        uid !== undefined && this.find(PersistentVolumeClaim, { namespace, name })?.metadata.uid !== uid;
      if (!isReleased || spec?.persistentVolumeReclaimPolicy !== 'Delete') continue;
      this.delete(PersistentVolume, { name: metadata.name });
      this.lost.push(metadata.name);
    }
  }

  #provision({ metadata: { namespace, name, uid } }: Claim): void {
    const volume = `pv-of-${name}-in-${namespace ?? ''}`;
    this.add<PersistentVolume>(PersistentVolume, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volume },
      spec: {
        claimRef: { namespace, name, uid },
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: 'standard',
      },
    });
    const bound = { spec: { volumeName: volume }, status: { phase: 'Bound' } };
    this.patch(PersistentVolumeClaim, { namespace, name }, bound);
  }

  /** Binds a claim that names a volume reserved for it. */
  #bind({ metadata: { namespace, name, uid }, spec, status }: Claim): void {
    const volume = spec?.volumeName === undefined ? undefined : this.find(PersistentVolume, { name: spec.volumeName });
    const kept = volume?.spec?.claimRef;
    if (status?.phase === 'Bound' || !volume || kept?.namespace !== namespace || kept?.name !== name) return;
    if (kept.uid !== undefined) return;
    this.patch(PersistentVolume, { name: volume.metadata.name }, { spec: { claimRef: { uid } } });
    this.patch(PersistentVolumeClaim, { namespace, name }, { status: { phase: 'Bound' } });
  }
}
