import type { SeedStatus } from '../../crds/environment.ts';
import { storeNamespace } from '../../crds/reusable-environment.ts';
import type { EnvironmentScope } from '../environment/scope.ts';
import type { EnvironmentStatuses } from '../environment/statuses.ts';
import type { Version } from '../environment/version.ts';
import { Stalled, Waiting } from '../errors.ts';
import { groupLabels } from '../group/objects.ts';
import type { WorkloadSettings } from '../workloads/input.ts';
import { quantityValue } from '../workloads/quantity.ts';
import { claimName, volumesOf } from '../workloads/volumes.ts';
import { copyId } from './names.ts';
import type { Reusables } from './reusables.ts';
import { requireEnvironmentRoom } from './storage-room.ts';
import type { VolumeCopies } from './volume-copies.ts';
import type { VolumeCopy } from './volume-copy.ts';

export interface SeedingParts {
  reusables: Reusables;
  copies: VolumeCopies;
  statuses: EnvironmentStatuses;
  volumes: WorkloadSettings['volumes'];
  /** Of an environment. */
  quota: Record<string, string>;
}

/** Changes are told; this is for one that is missed. */
const recheckMs = 30_000;

/** Fills the volumes of new contents with copies of a reusable environment's, before anything mounts them. */
export class Seeding {
  readonly #parts: SeedingParts;

  constructor(parts: SeedingParts) {
    this.#parts = parts;
  }

  /** Throws Waiting while volumes are copied, Stalled where they cannot be. */
  async advance(scope: EnvironmentScope, version: Version): Promise<void> {
    const { from: label } = version.serviceFile;
    if (label !== scope.status.seed?.label || !scope.isTrusted) await this.breakOff(scope);
    if (label === undefined) {
      scope.conditions.drop('Seeded');
      return;
    }
    if (!scope.isTrusted) {
      scope.conditions.report('Seeded', 'False', 'NotTrusted', `${label} is not used: the code may come from a fork`);
      return;
    }
    scope.status.seed ??= await this.#begin(scope, label);
    const { seed } = scope.status;
    if (!seed) {
      const remedy = 'let a ref that the Repository names for it publish it, then rebuild; the volumes begin empty';
      scope.conditions.report(
        'Seeded',
        'False',
        'NotFound',
        `the repository has no reusable environment ${label}: ${remedy}`,
      );
      return;
    }
    if (seed.result === 'running') await this.#copy(scope, version, seed);
  }

  /** Ends copies that are under way, and takes back those that have arrived: what is set up next is not half of them. */
  async breakOff(scope: EnvironmentScope): Promise<void> {
    const { seed } = scope.status;
    if (seed?.result !== 'running') return;
    const { copies } = this.#parts;
    await copies.dropAllFor(scope.uid, storeNamespace(scope.repository.group));
    for (const { name } of seed.volumes) await copies.takeBack(scope.namespace, claimName(name));
    delete scope.status.seed;
    scope.conditions.drop('Seeded');
  }

  /**
   * What the label stands for now is what all volumes come from, whatever is published meanwhile. It is told before
   * copies that were superseded by then can be removed.
   */
  #begin(scope: EnvironmentScope, label: string): Promise<SeedStatus | undefined> {
    return this.#parts.reusables.whilePublished(scope.repository, label, async ({ metadata, status }) => {
      const { publication = '', volumes = [] } = status ?? {};
      const seed: SeedStatus = { label, result: 'running', reusableUID: metadata.uid ?? '', publication, volumes };
      scope.status.seed = seed;
      await this.#parts.statuses.write(scope);
      return seed;
    });
  }

  async #copy(scope: EnvironmentScope, version: Version, seed: SeedStatus): Promise<void> {
    const copies = this.#plan(scope, version, seed);
    try {
      requireEnvironmentRoom(copies, this.#parts.quota);
      const phases = [];
      for (const copy of copies) phases.push(await this.#parts.copies.advance(copy, true));
      const done = phases.filter((phase) => phase === 'done').length;
      const told = `${done} of ${copies.length} volumes are copied from the reusable environment ${seed.label}`;
      if (done < copies.length) {
        scope.conditions.report('Seeded', 'Unknown', 'Copying', told);
        throw new Waiting('Seeding', told, recheckMs);
      }
      scope.status.seed = { ...seed, result: 'copied' };
      scope.conditions.report('Seeded', 'True', 'Copied', told);
    } catch (error) {
      if (!(error instanceof Stalled)) throw error;
      await this.breakOff(scope);
      scope.conditions.report('Seeded', 'False', error.reason, error.message);
      throw new Stalled(error.reason, `${error.message}; ask for a rebuild to try again`, { cause: error });
    }
  }

  #plan(scope: EnvironmentScope, version: Version, seed: SeedStatus): VolumeCopy[] {
    const { volumes: defaults } = this.#parts;
    const store = storeNamespace(scope.repository.group);
    return volumesOf(version).flatMap((volume): VolumeCopy[] => {
      const source = seed.volumes.find(({ name }) => name === volume.name);
      if (!source) return [];
      return [
        {
          id: copyId(scope.namespaceUid ?? '', seed.publication, volume.name),
          source: { namespace: store, name: source.claim },
          target: {
            namespace: scope.namespace,
            name: claimName(volume.name),
            labels: scope.labels,
            annotations: {},
          },
          size: larger(volume.size ?? defaults.size, source.size),
          storageClass: volume.storageClass ?? defaults.storageClass,
          environmentKey: scope.key,
          environmentUid: scope.uid,
          labels: groupLabels(scope.repository.group),
        },
      ];
    });
  }
}

function larger(a: string, b: string): string {
  return quantityValue(b) > quantityValue(a) ? b : a;
}
