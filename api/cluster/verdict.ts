import { findCondition, type Condition } from '../../crds/conditions.ts';
import { WaitTimeoutError } from '../../kubernetes/change-waiters.ts';
import { keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { ObjectCache } from './caches.ts';

type Reported = KubernetesObject & { status?: { conditions?: Condition[] | undefined } | undefined };

export interface Verdict<T> {
  /** As it is now. */
  object: T;
  isReady: boolean;
  /** Why the operator gave it up: somebody must act. */
  stalled?: string;
}

/** What the operator says of an object as it is written now; what it said of an earlier generation is no verdict. */
export function verdictOf<T extends Reported>(object: T): Verdict<T> {
  const generation = object.metadata.generation ?? 0;
  const current = object.status?.conditions?.filter(({ observedGeneration = 0 }) => observedGeneration >= generation);
  const stalled = findCondition(current, 'Stalled');
  return {
    object,
    isReady: findCondition(current, 'Ready')?.status === 'True',
    ...(stalled?.status === 'True' && { stalled: stalled.message }),
  };
}

/** Waits until the operator has judged what was just written, for so long at most: then it is told as it stands. */
export async function awaitVerdict<T extends Reported>(
  cache: ObjectCache<T>,
  written: T,
  timeoutMs: number,
): Promise<Verdict<T>> {
  const { uid } = written.metadata;
  const isJudged = (object: T | undefined) => {
    if (object?.metadata.uid !== uid || !object) return true;
    const { isReady, stalled } = verdictOf(object);
    return isReady || stalled !== undefined;
  };
  return verdictOf((await waitAtMost(cache, keyOf(written), isJudged, timeoutMs)) ?? written);
}

/** Waits until the object is gone, so that its name is free again; for so long at most. */
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
