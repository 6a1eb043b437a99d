import { ApiError } from '../../../../kubernetes/api-error.ts';
import {
  keyOf,
  objectKey,
  type KubernetesObject,
  type NetworkPolicy,
  type Pod,
  type Secret,
} from '../../../../kubernetes/resource-type.ts';
import { isSubset } from '../../../../kubernetes/subset.ts';
import { BuilderSet } from '../builder-set.ts';
import type { BuilderPoolSettings } from '../settings.ts';

export const SETTINGS: BuilderPoolSettings = {
  namespace: 'builders',
  image: 'buildkit:1',
  configMap: 'buildkitd-1',
  resources: {},
  idleSeconds: 600,
  startDeadlineSeconds: 180,
  cache: { size: '10Gi' },
  ephemeral: { maxConcurrent: 2, storage: '5Gi' },
};

/** A cluster for tests, which stores objects and runs nothing by itself. */
export class FakeCluster {
  readonly objects = new Map<string, KubernetesObject>();
  readonly calls: string[] = [];
  now = new Date('2026-01-01T00:00:00Z');
  readonly builders: BuilderSet;
  #uid = 0;

  constructor(changed: Partial<BuilderPoolSettings> = {}) {
    this.builders = this.builderSet(changed);
  }

  /** Returns a BuilderSet of another operator in the same cluster, optionally with other settings. */
  builderSet(changed: Partial<BuilderPoolSettings> = {}): BuilderSet {
    const reader = <T extends KubernetesObject>(kind: string) => ({
      get: (key: string) => this.objects.get(`${kind} ${key}`) as T | undefined,
      list: () => [...this.objects.values()].filter((object) => object.kind === kind) as T[],
      observe: () => undefined,
    });
    return new BuilderSet({
      client: {
        find: (type, { namespace, name }) =>
          Promise.resolve(this.objects.get(`${type.kind} ${objectKey(namespace, name)}`) as never),
        create: (type, object) => {
          const id = `${type.kind} ${keyOf(object)}`;
          if (this.objects.has(id)) return Promise.reject(new ApiError('POST', 409, 'AlreadyExists', 'taken'));
          return Promise.resolve(this.#write('create', object));
        },
        delete: (type, { namespace, name }) => {
          this.calls.push(`delete ${type.kind} ${name}`);
          const object = this.objects.get(`${type.kind} ${objectKey(namespace, name)}`);
          if (object) object.metadata.deletionTimestamp = this.now.toISOString();
          return Promise.resolve();
        },
      },
      applier: {
        apply: (_type, desired, live) => Promise.resolve(this.#apply(desired, live)),
      },
      secrets: reader<Secret>('Secret'),
      pods: reader<Pod>('Pod'),
      policies: reader<NetworkPolicy>('NetworkPolicy'),
      settings: { ...SETTINGS, ...changed },
      now: () => this.now,
    });
  }

  pod(name: string): Pod | undefined {
    return this.objects.get(`Pod builders/${name}`);
  }

  /** Makes the pod ready, as the kubelet does. */
  becomesReady(name: string, podIP = '10.0.0.7'): void {
    const pod = this.pod(name);
    if (pod) pod.status = { phase: 'Running', podIP, conditions: [{ type: 'Ready', status: 'True' }] };
  }

  fails(name: string, message: string, reason?: string): void {
    const pod = this.pod(name);
    if (pod) pod.status = { phase: 'Failed', message, ...(reason !== undefined && { reason }) };
  }

  /** Removes objects that are being deleted, with everything that they own. */
  collectGarbage(): void {
    const gone = [...this.objects.values()].filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    const uids = new Set(gone.map(({ metadata }) => metadata.uid));
    for (const [id, { metadata }] of this.objects) {
      const owned = metadata.ownerReferences?.some(({ uid }) => uids.has(uid)) ?? false;
      if (owned || uids.has(metadata.uid)) this.objects.delete(id);
    }
  }

  passes(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1000);
  }

  #apply<T extends KubernetesObject>(desired: T, live: T | undefined): { object: T; written: boolean } {
    if (live && isSubset(desired, live)) return { object: live, written: false };
    return { object: this.#write('apply', desired), written: true };
  }

  #write<T extends KubernetesObject>(verb: string, object: T): T {
    const id = `${object.kind} ${keyOf(object)}`;
    this.calls.push(`${verb} ${object.kind} ${object.metadata.name}`);
    const uid = this.objects.get(id)?.metadata.uid ?? `uid-${(this.#uid += 1)}`;
    const creationTimestamp = this.objects.get(id)?.metadata.creationTimestamp ?? this.now.toISOString();
    const written = { ...object, metadata: { ...object.metadata, uid, creationTimestamp } };
    this.objects.set(id, written);
    return written;
  }
}
