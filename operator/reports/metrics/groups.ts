import { Counter, Gauge, type Registry } from 'prom-client';
import type { Environment } from '../../../crds/environment.ts';
import type { Group } from '../../../crds/group.ts';
import { idOf } from '../../../crds/ids.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { buildTransitions } from './build-transitions.ts';
import { GroupLabels } from './group-labels.ts';

interface GroupCaches {
  groups: Pick<Informer<Group>, 'addHandler'>;
  environments: Pick<Informer<Environment>, 'addHandler' | 'list'>;
}

/** Registers metrics of environments and builds by group, for a limited number of groups. */
export function observeGroups(
  { groups, environments }: GroupCaches,
  registry: Registry,
  labels = new GroupLabels(),
): void {
  const registers = [registry];
  new Gauge({
    name: 'coppice_group_environments',
    help: 'Environments with contents, by group; groups beyond the first 100 are aggregated',
    labelNames: ['group'],
    registers,
    collect() {
      this.reset();
      for (const environment of environments.list()) {
        if ((environment.status?.state ?? 'empty') === 'empty') continue;
        this.inc({ group: labels.labelOf(idOf(environment).group) });
      }
    },
  });
  const builds = new Counter({
    name: 'coppice_group_builds_total',
    help: 'Finished builds, by group and result; groups beyond the first 100 are aggregated',
    labelNames: ['group', 'result'],
    registers,
  });
  const results = new Map<string, Set<string>>();
  environments.addHandler((change, environment, old) => {
    if (change !== 'updated' || !old || old.metadata.uid !== environment.metadata.uid) return;
    for (const transition of buildTransitions(old, environment)) {
      if (transition.transition === 'started') continue;
      const group = labels.labelOf(idOf(environment).group);
      results.set(group, (results.get(group) ?? new Set()).add(transition.result));
      builds.inc({ group, result: transition.result });
    }
  });
  groups.addHandler((change, { metadata: { name } }) => {
    if (change !== 'deleted') return;
    for (const result of results.get(name) ?? []) builds.remove({ group: name, result });
    results.delete(name);
    labels.forget(name);
  });
}
