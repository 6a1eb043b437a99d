import type { Environment } from '../../../crds/environment.ts';
import { LABELS } from '../../../crds/labels.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey, PersistentVolume, type PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { REUSABLE_ANNOTATIONS } from './names.ts';
import { releasePatch } from './volume-copy.ts';

export interface LostVolumesOptions {
  client: Pick<ClusterClient, 'patch'>;
  environments: Pick<Informer<Environment>, 'get'>;
  volumeClaims: Pick<Informer<PersistentVolumeClaim>, 'get'>;
  movingVolumes: Informer<PersistentVolume>;
}

const recheckMs = 30_000;

/** Releases volumes that were being moved to a claim when their copy's owner was deleted. */
export class LostVolumes {
  readonly #options: LostVolumesOptions;

  constructor(options: LostVolumesOptions) {
    this.#options = options;
  }

  async reconcile(name: string): Promise<ReconcileResult> {
    const { movingVolumes, client } = this.#options;
    const volume = movingVolumes.get(name);
    // An existing volume is reported again by its next event.
    if (volume?.metadata.labels?.[LABELS.moving] === undefined) return {};
    if (this.#isWanted(volume)) return { requeueAfterMs: recheckMs };
    const patch = givenBack(volume, this.#isClaimed(volume));
    const { resourceVersion } = volume.metadata;
    movingVolumes.observe(await client.patch(PersistentVolume, { name }, patch, { resourceVersion }));
    return {};
  }

  #isWanted({ metadata: { annotations } }: PersistentVolume): boolean {
    const environment = this.#options.environments.get(annotations?.[REUSABLE_ANNOTATIONS.environment] ?? '');
    if (!environment || environment.metadata.uid !== annotations?.[REUSABLE_ANNOTATIONS.environmentUid]) return false;
    const { seed, publication } = environment.status ?? {};
    return seed?.result === 'running' || publication?.result === 'running';
  }

  /** Returns whether the claim exists that the volume is bound to, or is to be bound to. */
  #isClaimed({ spec }: PersistentVolume): boolean {
    const { namespace, name = '', uid } = spec?.claimRef ?? {};
    const claim = this.#options.volumeClaims.get(objectKey(namespace, name));
    return claim !== undefined && (uid === undefined || claim.metadata.uid === uid);
  }
}

/**
 * Returns the patch that restores the policy of the volume's storage class. A volume without a claim is marked as
 * released from its original one, so that its provisioner deletes it.
 */
export function givenBack(volume: PersistentVolume, isClaimed: boolean): object {
  const patch = releasePatch(volume) as { spec: object };
  if (isClaimed) return patch;
  const from = volume.metadata.annotations?.[REUSABLE_ANNOTATIONS.movesFrom];
  if (from === undefined) return patch;
  return { ...patch, spec: { ...patch.spec, claimRef: JSON.parse(from) as object } };
}
