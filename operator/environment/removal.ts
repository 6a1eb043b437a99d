import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { gitRefKey } from '../../crds/git-ref.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { isConflict, isNotFound } from '../../kubernetes/api-error.ts';
import { KeyedLock } from './keyed-lock.ts';

/**
 * Decides what the end of an environment's contents takes with it (contract section 3, DELETE): the object too when
 * another one holds the same ref, so that of several one always stays. Decided for one ref at a time, and from the API
 * server rather than a cache, or two deletes at once could each see the other and both go.
 */
export class Removal {
  readonly #client: Pick<ClusterClient, 'list' | 'delete'>;
  readonly #lock = new KeyedLock();

  constructor(client: Pick<ClusterClient, 'list' | 'delete'>) {
    this.#client = client;
  }

  /** Deletes the object when it is one of several on its ref and was made by Coppice; true when it did. */
  async removeObjectIfShared(environment: Environment): Promise<boolean> {
    const { namespace, name, uid, labels } = environment.metadata;
    // What somebody applied, a GitOps tool or kubectl, is theirs to delete.
    if (labels?.[LABELS.managedBy] !== MANAGED_BY) return false;
    const { repository, gitRef } = environment.spec;
    return this.#lock.run(`${namespace ?? ''}/${repository}/${gitRefKey(gitRef)}`, async () => {
      const { items } = await this.#client.list(ENVIRONMENT, { namespace });
      const others = (items as Environment[]).filter(
        (other) =>
          other.metadata.uid !== uid &&
          other.metadata.deletionTimestamp === undefined &&
          other.spec.repository === repository &&
          gitRefKey(other.spec.gitRef) === gitRefKey(gitRef),
      );
      if (others.length === 0) return false;
      try {
        await this.#client.delete(ENVIRONMENT, { namespace, name }, { uid });
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      return true;
    });
  }
}
