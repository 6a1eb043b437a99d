import type { Logger } from 'pino';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import { Job, Namespace, Secret, type ResourceType } from '../../../kubernetes/resource-type.ts';
import { findOrphans, type Observed, type Orphan, type OrphanKind } from './find.ts';

export interface OrphanSweeperOptions {
  client: Pick<ClusterClient, 'delete' | 'find'>;
  /** Returns the objects in the informers' caches. */
  observe: () => Observed;
  /** Called with each sweep's orphans, including those that are kept. */
  count: (orphans: readonly Orphan[]) => void;
  now: () => Date;
  logger: Logger;
}

/** Minimum time without an owner, in milliseconds, because objects that are being deleted are not orphans. */
const graceMs = 300_000;
/** Limits the deletions of one sweep, so that a mistake cannot empty a cluster. */
const maxConcurrent = 20;

const types: Record<OrphanKind, ResourceType> = { Namespace, Job, Builder: Secret };

/**
 * Deletes objects that an interrupted deletion left, for example because somebody removed a finalizer or restored only
 * a part. Reads the informers' caches, and confirms at the API server that an owner is gone before deleting.
 */
export class OrphanSweeper {
  readonly #options: OrphanSweeperOptions;
  /** When each orphan was first seen, by UID. */
  #seen = new Map<string, number>();
  #areSomeLeft = false;

  constructor(options: OrphanSweeperOptions) {
    this.#options = options;
  }

  /** Sweeps, and reports what was deleted. Orphans that could not be deleted yet are checked again after some minutes. */
  async run(): Promise<{ message: string; repeatAfterMs?: number }> {
    const removed = await this.sweep();
    const message = `${removed.length} orphans deleted, ${this.#seen.size - removed.length} kept`;
    return this.#areSomeLeft ? { message, repeatAfterMs: graceMs } : { message };
  }

  /** Checks everything once; returns the orphans whose deletion was started. */
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
    this.#areSomeLeft = orphans.some((orphan) => isDeletable(orphan) && !removed.includes(orphan));
    return removed;
  }

  /** Logs an error and continues with the other orphans; the next sweep tries again. */
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

  /** Deletes the orphan; returns false if it is kept or already being deleted. */
  async #remove(orphan: Orphan): Promise<boolean> {
    const { kind, object, owner } = orphan;
    const { client, logger } = this.#options;
    const { namespace, name, uid } = object.metadata;
    if (!isDeletable(orphan)) return false;
    if (await client.find(owner.type, owner.at)) return false;
    if (!(await deleteObject(client, types[kind], object))) return false;
    logger.warn({ kind, namespace, name, uid }, 'an orphan is deleted');
    return true;
  }
}

function isDeletable({ keptBecause, object }: Orphan): boolean {
  return keptBecause === undefined && object.metadata.deletionTimestamp === undefined;
}
