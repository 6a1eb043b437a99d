import { findCondition, type Condition } from '../../crds/conditions.ts';
import { WaitTimeoutError } from '../../kubernetes/change-waiters.ts';
import { keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { ObjectCache } from './object-cache.ts';

type Reported = KubernetesObject & { status?: { conditions?: Condition[] | undefined } | undefined };

export interface Readiness<T> {
  /** The current object. */
  object: T;
  isReady: boolean;
  /** Why the operator has stalled and a user must act. */
  stalled?: string;
  /** Why the object is not ready yet. */
  pending?: Pick<Condition, 'reason' | 'message'>;
}

/**
 * Returns the readiness that the operator reports for the current generation; a report on an earlier one is ignored.
 */
export function readinessOf<T extends Reported>(object: T): Readiness<T> {
  const generation = object.metadata.generation ?? 0;
  const current = object.status?.conditions?.filter(({ observedGeneration = 0 }) => observedGeneration >= generation);
  const ready = findCondition(current, 'Ready');
  const stalled = findCondition(current, 'Stalled');
  if (stalled?.status === 'True') return { object, isReady: false, stalled: stalled.message };
  if (ready?.status === 'True') return { object, isReady: true };
  return { object, isReady: false, ...(ready && { pending: { reason: ready.reason, message: ready.message } }) };
}

/**
 * Waits until the operator has reported on what was just written, or until the timeout; returns the state then.
 * @param isEnough whether a readiness that can still change is returned immediately.
 */
export async function awaitReadiness<T extends Reported>(
  cache: ObjectCache<T>,
  written: T,
  timeoutMs: number,
  isEnough: (readiness: Readiness<T>) => boolean = () => false,
): Promise<Readiness<T>> {
  const { uid } = written.metadata;
  const isJudged = (object: T | undefined) => {
    if (object?.metadata.uid !== uid || !object) return true;
    const readiness = readinessOf(object);
    return readiness.isReady || readiness.stalled !== undefined || isEnough(readiness);
  };
  return readinessOf((await waitAtMost(cache, keyOf(written), isJudged, timeoutMs)) ?? written);
}

/** Waits until the object is gone, so that its name is free, or until the timeout. */
export async function awaitGone<T extends KubernetesObject>(
  cache: ObjectCache<T>,
  deleted: T,
  timeoutMs: number,
): Promise<void> {
  await waitAtMost(cache, keyOf(deleted), (object) => object?.metadata.uid !== deleted.metadata.uid, timeoutMs);
}

async function waitAtMost<T extends KubernetesObject>(
  cache: ObjectCache<T>,
  key: string,
  predicate: (object: T | undefined) => boolean,
  timeoutMs: number,
): Promise<T | undefined> {
  try {
    return await cache.waitFor(key, predicate, { timeoutMs });
  } catch (error) {
    if (error instanceof WaitTimeoutError) return cache.get(key);
    throw error;
  }
}
