import type { Logger } from 'pino';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import { Job, Namespace, Secret, type ResourceType } from '../../../kubernetes/resource-type.ts';
import { findOrphans, type Observed, type Orphan, type OrphanKind } from './find.ts';

export interface OrphanSweeperOptions {
  client: Pick<ClusterClient, 'delete' | 'find'>;
  /** What the informers hold. */
  observe: () => Observed;
  /** Called with of each sweep's orphans, those that stay too. */
  count: (orphans: readonly Orphan[]) => void;
  now: () => Date;
  logger: Logger;
}

const betweenMs = 60_000;
/** The owner has been gone for so long: what is just being removed is none. */
const graceMs = 300_000;
/** A mistake, somebody's or ours, must not empty a cluster at once. */
const maxConcurrent = 20;

const types: Record<OrphanKind, ResourceType> = { Namespace, Job, Builder: Secret };

/**
 * Takes away what a removal left that did not come to its end: a finalizer taken off manually, a restore of half. Looks
 * at the informers' caches alone; the API server is asked of what is to go, whether its owner is there after all.
 */
export class OrphanSweeper {
  readonly #options: OrphanSweeperOptions;
  /** When each was first seen, by its UID. */
  #seen = new Map<string, number>();

  constructor(options: OrphanSweeperOptions) {
    this.#options = options;
  }

  /** Reconciles the only key of this controller. */
  async reconcile(): Promise<{ requeueAfterMs: number }> {
    await this.sweep();
    return { requeueAfterMs: betweenMs };
  }

  /** Looks at everything once; gives what it started to remove. */
  async sweep(): Promise<Orphan[]> {
    const { observe, count, now, logger } = this.#options;
    const time = now().getTime();
    const orphans = findOrphans(observe());
    count(orphans);
    const seen = new Map<string, number>();
    const removed: Orphan[] = [];
    for (const orphan of orphans) {
      const { uid = '', name, namespace } = orphan.object.metadata;
      const since = this.#seen.get(uid);
      seen.set(uid, since ?? time);
      const { kind, keptBecause } = orphan;
      if (since === undefined) logger.warn({ kind, namespace, name, keptBecause }, 'its owner no longer exists');
      if (removed.length >= maxConcurrent || time - (since ?? time) < graceMs) continue;
      if (await this.#tryToRemove(orphan)) removed.push(orphan);
    }
    this.#seen = seen;
    return removed;
  }

  /** One that cannot be removed keeps none of the others here: it is tried again at the next sweep. */
  async #tryToRemove(orphan: Orphan): Promise<boolean> {
    try {
      return await this.#remove(orphan);
    } catch (error) {
      const { kind, object } = orphan;
      const { namespace, name } = object.metadata;
      this.#options.logger.warn({ err: error, kind, namespace, name }, 'an orphan cannot be deleted yet');
      return false;
    }
  }

  /** False where it stays, or goes already. */
  async #remove({ kind, object, owner, keptBecause }: Orphan): Promise<boolean> {
    const { client, logger } = this.#options;
    const { namespace, name, uid, deletionTimestamp } = object.metadata;
    if (keptBecause !== undefined || deletionTimestamp !== undefined) return false;
    if (await client.find(owner.type, owner.at)) return false;
    if (!(await deleteObject(client, types[kind], object))) return false;
    logger.warn({ kind, namespace, name, uid }, 'an orphan is deleted');
    return true;
  }
}
