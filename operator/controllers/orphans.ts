import { Gauge } from 'prom-client';
import { isMadeByCoppice } from '../../crds/ownership.ts';
import type { OperatorContext } from './context.ts';
import { ORPHAN_KINDS, type Orphan } from '../kinds/orphans/find.ts';
import { OrphanSweeper } from '../kinds/orphans/sweeper.ts';

/** Creates the sweeper with its metric `coppice_orphans`. */
export function createOrphanSweeper({ client, caches, metrics, logger, now }: OperatorContext): OrphanSweeper {
  const gauge = new Gauge({
    name: 'coppice_orphans',
    help: 'Objects that Coppice created and whose owner no longer exists',
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
