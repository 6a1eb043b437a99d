import type { ConditionStatus } from '../../../../crds/conditions.ts';
import type { SeedStatus } from '../../../../crds/environment.ts';
import { storeNamespace } from '../../../../crds/reusable-environment.ts';
import { combine } from '../scope/contribution.ts';
import { andThen, type PhaseResult } from '../scope/phase.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { EnvironmentStatuses } from '../status/statuses.ts';
import type { Revision } from '../revision/revision.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import { groupLabels } from '../../group/objects.ts';
import type { WorkloadSettings } from '../../../services/objects/input.ts';
import { quantityValue } from '../../../../kubernetes/quantity.ts';
import { claimName, volumesOf } from '../../../services/objects/volumes.ts';
import { copyId } from '../../reusable/names.ts';
import type { Reusables } from '../../reusable/reusables.ts';
import { requireEnvironmentRoom } from '../../reusable/storage-room.ts';
import type { VolumeCopies } from '../../reusable/volume-copies.ts';
import type { VolumeCopy } from '../../reusable/volume-copy.ts';

export interface SeedingOptions {
  reusables: Pick<Reusables, 'whilePublished'>;
  copies: Pick<VolumeCopies, 'advance' | 'dropAllFor' | 'takeBack'>;
  statuses: Pick<EnvironmentStatuses, 'write'>;
  volumes: WorkloadSettings['volumes'];
  /** Quota of an environment. */
  quota: Record<string, string>;
}

type SeedingResult = PhaseResult<'seed', 'Seeded'>;

/** Fallback for a missed event. */
const recheckMs = 30_000;

/** Fills the volumes of new contents with copies of a reusable environment's volumes, before anything mounts them. */
export class Seeding {
  readonly #options: SeedingOptions;

  constructor(options: SeedingOptions) {
    this.#options = options;
  }

  /** Fails with Waiting while volumes are copied, with Stalled if they cannot be. */
  async advance(scope: EnvironmentScope, revision: Revision): Promise<SeedingResult> {
    const { from: label } = revision.serviceFile;
    const isOutdated = label !== scope.status.seed?.label || !scope.isTrusted;
    const brokenOff = isOutdated ? await this.breakOff(scope) : {};
    if (label === undefined) return { ...brokenOff, conditions: { Seeded: undefined } };
    if (!scope.isTrusted) {
      return combine(brokenOff, seeded('False', 'NotTrusted', `${label} is not used: the code may come from a fork`));
    }
    return andThen(
      scope,
      brokenOff,
      (current) => this.#start(current, label),
      (current) => this.#copy(current, revision, label),
    );
  }

  /** Ends running copies, before the contents are deleted with the finished ones. */
  async end({ uid, repository, status }: EnvironmentScope): Promise<void> {
    if (status.seed?.result === 'running') await this.#options.copies.dropAllFor(uid, storeNamespace(repository.group));
  }

  /** Ends running copies and deletes finished ones, so that the next setup does not find an incomplete set. */
  async breakOff(scope: EnvironmentScope): Promise<SeedingResult> {
    const { seed } = scope.status;
    if (seed?.result !== 'running') return {};
    const { copies } = this.#options;
    await copies.dropAllFor(scope.uid, storeNamespace(scope.repository.group));
    for (const { name } of seed.volumes) await copies.takeBack(scope.namespace, claimName(name));
    return { status: { seed: undefined }, conditions: { Seeded: undefined } };
  }

  /**
   * All volumes are copied from the publication that is current now, whatever is published meanwhile. It is recorded
   * before superseded copies can be deleted.
   */
  async #start(scope: EnvironmentScope, label: string): Promise<SeedingResult> {
    if (scope.status.seed) return {};
    const { reusables, statuses } = this.#options;
    const started = await reusables.whilePublished(scope.repository, label, async ({ metadata, status }) => {
      const { publication = '', volumes = [] } = status ?? {};
      const seed: SeedStatus = { label, result: 'running', reusableUID: metadata.uid ?? '', publication, volumes };
      await statuses.write(scope.with({ status: { seed } }));
      return seed;
    });
    if (started) return { status: { seed: started } };
    const remedy = 'let one of its refs in the Repository publish it, then rebuild. The volumes start empty';
    return seeded('False', 'NotFound', `the repository has no reusable environment ${label}: ${remedy}`);
  }

  async #copy(scope: EnvironmentScope, revision: Revision, label: string): Promise<SeedingResult> {
    const { seed } = scope.status;
    if (seed?.result !== 'running') return {};
    const copies = this.#plan(scope, revision, seed);
    try {
      requireEnvironmentRoom(copies, this.#options.quota);
      const phases = [];
      for (const copy of copies) phases.push(await this.#options.copies.advance(copy, true));
      const done = phases.filter((phase) => phase === 'done').length;
      const progress = `${done} of ${copies.length} volumes are copied from the reusable environment ${label}`;
      if (done === copies.length) {
        return { ...seeded('True', 'Copied', progress), status: { seed: { ...seed, result: 'copied' } } };
      }
      return { ...seeded('Unknown', 'Copying', progress), failure: new Waiting('Seeding', progress, recheckMs) };
    } catch (error) {
      if (!(error instanceof Stalled)) throw error;
      const { reason, message } = error;
      const failure = new Stalled(reason, `${message}. Request a rebuild to try again`, { cause: error });
      return { ...combine(await this.breakOff(scope), seeded('False', reason, message)), failure };
    }
  }

  #plan(scope: EnvironmentScope, revision: Revision, seed: SeedStatus): VolumeCopy[] {
    const { volumes: defaults } = this.#options;
    const store = storeNamespace(scope.repository.group);
    return volumesOf(revision).flatMap((volume): VolumeCopy[] => {
      const source = seed.volumes.find(({ name }) => name === volume.name);
      if (!source) return [];
      return [
        {
          id: copyId(scope.status.namespaceUID ?? '', seed.publication, volume.name),
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

function seeded(status: ConditionStatus, reason: string, message: string): SeedingResult {
  return { conditions: { Seeded: { status, reason, message } } };
}

function larger(a: string, b: string): string {
  return quantityValue(b) > quantityValue(a) ? b : a;
}
