import {
  objectKey,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import type { ClusterWriter } from './caches.ts';

/**
 * The cluster, with one read of an object at a time: who asks for it meanwhile shares the answer, as if they had come
 * when it was asked for. Nothing is kept beyond that, so that no answer is older than the one that is waited for.
 */
export function sharedReads(cluster: Pick<ClusterWriter, 'find'>) {
  const underWay = new Map<string, Promise<KubernetesObject | undefined>>();
  const read = async (id: string, type: ResourceType, at: ObjectName) => {
    try {
      return await cluster.find(type, at);
    } finally {
      underWay.delete(id);
    }
  };
  return {
    find<T extends KubernetesObject>(type: ResourceType<T>, at: ObjectName): Promise<T | undefined> {
      const id = `${type.kind} ${objectKey(at.namespace, at.name)}`;
      const reading = underWay.get(id) ?? read(id, type, at);
      underWay.set(id, reading);
      return reading as Promise<T | undefined>;
    },
  };
}
