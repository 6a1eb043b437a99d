import { ENVIRONMENT, type Environment } from '../../../../crds/environment.ts';
import type { ClusterClient } from '../../../../kubernetes/client.ts';
import { deleteObject } from '../../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../../kubernetes/informer.ts';
import { refIndexValue } from '../../../shared/environment-keys.ts';
import { KeyedLock } from '../../../shared/keyed-lock.ts';
import { isAppliedByOthers, isMadeByCoppice } from '../../../../crds/ownership.ts';
import { holdsSameRef } from './clones.ts';

/**
 * Decides whether the end of an environment's contents deletes the object too: it does if another one has the same ref,
 * so that of several one always stays. Decides for one ref at a time and confirms the cache with the API server:
 * otherwise two concurrent deletions could each see the other and delete both. An object missing in the cache only
 * makes this one stay.
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
   * Deletes the object if Coppice created it and it is one of several of its ref, or its ref does not exist; returns
   * whether it did. No sync would ever delete an object whose ref does not exist.
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
