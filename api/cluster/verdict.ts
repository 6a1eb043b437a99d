import { findCondition, type Condition } from '../../crds/conditions.ts';
import { WaitTimeoutError } from '../../kubernetes/change-waiters.ts';
import { keyOf, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { ObjectCache } from './object-cache.ts';

type Reported = KubernetesObject & { status?: { conditions?: Condition[] | undefined } | undefined };

export interface Verdict<T> {
  /** As it is now. */
  object: T;
  isReady: boolean;
  /** Why the operator gave it up: somebody must act. */
  stalled?: string;
  /** Why it is not ready, of which the operator may yet see the end. */
  pending?: Pick<Condition, 'reason' | 'message'>;
}

/** What the operator says of an object as it is written now; what it said of an earlier generation is no verdict. */
export function verdictOf<T extends Reported>(object: T): Verdict<T> {
  const generation = object.metadata.generation ?? 0;
  const current = object.status?.conditions?.filter(({ observedGeneration = 0 }) => observedGeneration >= generation);
  const ready = findCondition(current, 'Ready');
  const stalled = findCondition(current, 'Stalled');
  if (stalled?.status === 'True') return { object, isReady: false, stalled: stalled.message };
  if (ready?.status === 'True') return { object, isReady: true };
  return { object, isReady: false, ...(ready && { pending: { reason: ready.reason, message: ready.message } }) };
}

/**
 * Waits until the operator has judged what was just written, for so long at most: then it is told as it stands.
 * @param isEnough whether a verdict that may change yet is one to be told at once.
 */
export async function awaitVerdict<T extends Reported>(
  cache: ObjectCache<T>,
  written: T,
  timeoutMs: number,
  isEnough: (verdict: Verdict<T>) => boolean = () => false,
): Promise<Verdict<T>> {
  const { uid } = written.metadata;
  const isJudged = (object: T | undefined) => {
    if (object?.metadata.uid !== uid || !object) return true;
    const verdict = verdictOf(object);
    return verdict.isReady || verdict.stalled !== undefined || isEnough(verdict);
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
