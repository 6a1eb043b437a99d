import { Gauge, type Registry } from 'prom-client';
import { findCondition } from '../../../crds/conditions.ts';
import { REPOSITORY_TYPES } from '../../../crds/repository-source.ts';
import type { Repository } from '../../../crds/repository.ts';
import type { Informer } from '../../../kubernetes/informer.ts';

/** Registers the number of Repositories, and the reasons why some are not synchronized. */
export function observeRepositories(repositories: Pick<Informer<Repository>, 'list'>, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'coppice_repositories',
    help: 'Repositories, by type',
    labelNames: ['type'],
    registers,
    collect() {
      for (const type of REPOSITORY_TYPES) this.set({ type }, 0);
      for (const { spec } of repositories.list()) this.inc({ type: spec.type });
    },
  });
  new Gauge({
    name: 'coppice_repositories_not_synced',
    help: 'Repositories that are not synchronized, by the reason of the condition Synced, or else Ready',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const repository of repositories.list()) {
        const reason = whyNotSynced(repository);
        if (reason !== undefined) this.inc({ reason });
      }
    },
  });
}

/** Returns the reason; undefined if the Repository is synchronized or has not been reconciled yet. */
function whyNotSynced({ status }: Repository): string | undefined {
  const conditions = ['Synced', 'Ready'].map((type) => findCondition(status?.conditions, type));
  return conditions.find((condition) => condition?.status === 'False')?.reason;
}
