import {
  objectKey,
  type KubernetesObject,
  type ObjectName,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';
import type { ClusterWriter } from './caches.ts';

/**
 * Returns the cluster with one concurrent read per object: callers share the response of a read in progress. Nothing is
 * cached beyond that.
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
