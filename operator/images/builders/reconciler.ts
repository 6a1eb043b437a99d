import type { Environment } from '../../../crds/environment.ts';
import { groupNamespace } from '../../../crds/ids.ts';
import { LABELS } from '../../../crds/labels.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { splitKey, type Pod, type Secret } from '../../../kubernetes/resource-type.ts';
import type { BuilderSet } from './builder-set.ts';
import { buildNeedsUntil, lastUse, neededUntil } from './demand.ts';
import { buildOf, environmentKey, groupBuilder, ephemeralBuilder } from './identity.ts';
import type { BuilderPool } from './pool.ts';

export interface BuilderReconcilerOptions {
  builders: BuilderSet;
  pool: BuilderPool;
  environments: Pick<Informer<Environment>, 'get' | 'byIndex'>;
  idleSeconds: number;
  now: () => Date;
}

/**
 * Requeues builds when their builder is ready, stops idle builders of groups, and deletes ephemeral ones. The
 * Environments' statuses show which builders are needed, so a restarted operator needs no other state.
 */
export class BuilderReconciler {
  readonly #options: BuilderReconcilerOptions;

  constructor(options: BuilderReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const { builders, pool, environments } = this.#options;
    const { name } = splitKey(key);
    const pod = builders.pod(name);
    if (pod && builders.isReady(pod)) pool.wake(name);
    const secret = builders.secret(name);
    if (!secret) {
      pool.wakeQueue();
      return {};
    }
    const group = secret.metadata.labels?.[LABELS.group] ?? '';
    const build = buildOf(secret.metadata.labels);
    if (pod) await builders.isolate(build ? ephemeralBuilder(group, build) : groupBuilder(group), secret);
    if (build === undefined) return pod && !builders.isStopping(pod) ? this.#keep(group, secret, pod) : {};
    const leftMs = this.#leftUntil(buildNeedsUntil(environments.get(environmentKey(group, build)), build));
    if (leftMs > 0) return later(leftMs);
    await builders.remove(name);
    return {};
  }

  /** Runs a group's builder while the group builds, and for some time after. */
  async #keep(group: string, secret: Secret, pod: Pod): Promise<ReconcileResult> {
    const { builders, environments, idleSeconds } = this.#options;
    const ofGroup = environments.byIndex('namespace', groupNamespace(group));
    const usedAt = Math.max(lastUse(ofGroup), Date.parse(pod.metadata.creationTimestamp ?? ''));
    const idleAt = builders.isOutOfDate(secret, pod) ? 0 : usedAt + idleSeconds * 1000;
    const leftMs = this.#leftUntil(Math.max(idleAt, ...ofGroup.map(neededUntil)));
    if (leftMs > 0) return later(leftMs);
    await builders.stop(pod);
    return {};
  }

  #leftUntil(ms: number): number {
    return ms - this.#options.now().getTime();
  }
}

/** Returns when to requeue; a builder that is needed indefinitely is requeued by a change. */
function later(ms: number): ReconcileResult {
  return ms === Infinity ? {} : { requeueAfterMs: ms };
}
