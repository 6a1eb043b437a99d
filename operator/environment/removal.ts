import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteObject } from '../../kubernetes/delete-object.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { refIndexValue } from '../caches.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { isAppliedByOthers, isMadeByCoppice } from '../ownership.ts';
import { holdsSameRef } from './clones.ts';

/**
 * Decides what the end of an environment's contents takes with it (contract section 3, DELETE): the object too when
 * another one holds the same ref, so that of several one always stays. Decided for one ref at a time, and the API server
 * must confirm what the cache says, or two deletes at once could each see the other and both go. One that the cache
 * lacks only makes the object stay.
 */
export class Removal {
  readonly #client: Pick<ClusterClient, 'find' | 'delete'>;
  readonly #environments: Pick<Informer<Environment>, 'byIndex'>;
  readonly #lock = new KeyedLock();

  constructor(client: Pick<ClusterClient, 'find' | 'delete'>, environments: Pick<Informer<Environment>, 'byIndex'>) {
    this.#client = client;
    this.#environments = environments;
  }

  /**
   * Deletes the object when it was made by Coppice, and is one of several on its ref or its ref does not exist; true when
   * it did. An object whose ref does not exist is of no use to anybody, and no sync would ever remove it.
   */
  async removeObject(environment: Environment, { refIsMissing = false } = {}): Promise<boolean> {
    const { namespace, name } = environment.metadata;
    if (!isMadeByCoppice(environment)) return false;
    return this.#lock.run(refIndexValue(environment), async () => {
      if (!refIsMissing && !(await this.#isShared(environment))) return false;
      const live = await this.#client.find<Environment>(ENVIRONMENT, { namespace, name });
      if (live && isAppliedByOthers(live)) return false;
      await deleteObject(this.#client, ENVIRONMENT, environment);
      return true;
    });
  }

  async #isShared(environment: Environment): Promise<boolean> {
    for (const held of this.#environments.byIndex('ref', refIndexValue(environment))) {
      if (!holdsSameRef(environment, held)) continue;
      const { namespace, name } = held.metadata;
      const other = await this.#client.find<Environment>(ENVIRONMENT, { namespace, name });
      if (other && holdsSameRef(environment, other)) return true;
    }
    return false;
  }
}
