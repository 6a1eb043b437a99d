import { Gauge } from 'prom-client';
import { isMadeByCoppice } from '../ownership.ts';
import type { OperatorParts } from '../parts.ts';
import { ORPHAN_KINDS, type Orphan } from './find.ts';
import { OrphanSweeper } from './sweeper.ts';

/** Puts the sweep together, with the metric `coppice_orphans`. */
export function createOrphanSweeper({ client, caches, metrics, logger, now }: OperatorParts): OrphanSweeper {
  const gauge = new Gauge({
    name: 'coppice_orphans',
    help: 'Objects that Coppice made, and whose owner is gone',
    labelNames: ['kind'],
    registers: [metrics.registry],
  });
  const count = (orphans: readonly Orphan[]) => {
    for (const kind of ORPHAN_KINDS) gauge.set({ kind }, orphans.filter((orphan) => orphan.kind === kind).length);
  };
  count([]);
  const observe = () => ({
    environments: caches.environments.list(),
    groups: caches.groups.list(),
    namespaces: caches.namespaces.list().filter(isMadeByCoppice),
    jobs: caches.jobs.list(),
    builderSecrets: caches.builderSecrets.list(),
  });
  return new OrphanSweeper({ client, observe, count, now, logger });
}
