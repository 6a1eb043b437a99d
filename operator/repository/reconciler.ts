import { findCondition, mergeConditions, type ConditionReport } from '../../crds/conditions.ts';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { REPOSITORY, repositorySchema, type Repository } from '../../crds/repository.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-there.ts';
import type { ReconcileResult } from '../../kubernetes/controller.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { afterError, ready } from '../conditions.ts';
import { Stalled } from '../errors.ts';
import { addFinalizer, removeFinalizer } from '../finalizer.ts';
import { SourceRefusedError } from '../source/errors.ts';
import type { Source } from '../source/source.ts';
import type { StatusWriter } from '../status-writer.ts';
import type { RepositoryAccess } from './access.ts';

export interface RepositoryParts {
  client: ClusterClient;
  repositories: Informer<Repository>;
  environments: Informer<Environment>;
  access: RepositoryAccess;
  source: Source;
  statuses: StatusWriter<Repository>;
  now: () => Date;
}

const removalRecheckMs = 10_000;
const refusalRecheckMs = 5 * 60_000;

/** Finds out whether a Repository can be read, and takes its Environments with it when it goes. */
export class RepositoryReconciler {
  readonly #parts: RepositoryParts;

  constructor(parts: RepositoryParts) {
    this.#parts = parts;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const found = this.#parts.repositories.get(key);
    if (!found) return {};
    const repository: Repository = { ...repositorySchema.parse(found), apiVersion: found.apiVersion, kind: found.kind };
    if (found.metadata.deletionTimestamp) return this.#finalize(repository);
    await addFinalizer(this.#parts.client, REPOSITORY, repository);
    if (isKnownReadable(repository)) return {};
    try {
      await this.#check(repository);
    } catch (error) {
      await this.#report(repository, afterError(error));
      // Credentials, the host or the administrator's settings may be mended without a change of the Repository.
      if (error instanceof Stalled) return { requeueAfterMs: refusalRecheckMs };
      throw error;
    }
    await this.#report(repository, ready('Readable', 'the Git repository answers and can be read'));
    return {};
  }

  async #check(repository: Repository): Promise<void> {
    try {
      await this.#parts.source.check(await this.#parts.access.of(repository));
    } catch (error) {
      if (error instanceof SourceRefusedError) throw new Stalled(error.reason, error.message, { cause: error });
      throw error;
    }
  }

  async #report(repository: Repository, reports: ConditionReport[]): Promise<void> {
    const generation = repository.metadata.generation ?? 0;
    const conditions = mergeConditions(repository.status?.conditions, reports, generation, this.#parts.now());
    await this.#parts.statuses.write(repository, { observedGeneration: generation, conditions });
  }

  async #finalize(repository: Repository): Promise<ReconcileResult> {
    const { client, environments } = this.#parts;
    const { namespace = '', name } = repository.metadata;
    const mine = environments.byIndex('namespace', namespace).filter((one) => one.spec.repository === name);
    for (const { metadata } of mine) {
      if (metadata.deletionTimestamp) continue;
      await deleteIfThere(client, ENVIRONMENT, { namespace, name: metadata.name }, { uid: metadata.uid });
    }
    if (mine.length > 0) return { requeueAfterMs: removalRecheckMs };
    await removeFinalizer(client, REPOSITORY, repository);
    return {};
  }
}

function isKnownReadable({ metadata, status }: Repository): boolean {
  const condition = findCondition(status?.conditions, 'Ready');
  return condition?.status === 'True' && condition.observedGeneration === metadata.generation;
}
