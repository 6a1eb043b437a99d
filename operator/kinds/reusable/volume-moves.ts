import { LABELS } from '../../../crds/labels.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { PersistentVolume, type PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { Stalled } from '../../shared/errors.ts';
import { REUSABLE_ANNOTATIONS } from './names.ts';
import { markPatch, pointPatch, releasePatch, type VolumeCopy } from './volume-copy.ts';

/** Moves a volume from the claim that a copy filled to its target claim (ADR 26). */
export class VolumeMoves {
  readonly #client: Pick<ClusterClient, 'get' | 'patch'>;
  readonly #movingVolumes: Informer<PersistentVolume>;

  constructor(client: Pick<ClusterClient, 'get' | 'patch'>, movingVolumes: Informer<PersistentVolume>) {
    this.#client = client;
    this.#movingVolumes = movingVolumes;
  }

  /**
   * Marks the volume as being moved. Throws Stalled unless the claim has Coppice's labels, and the volume is bound to
   * it.
   */
  async mark(copy: VolumeCopy, staging: PersistentVolumeClaim): Promise<void> {
    const name = staging.spec?.volumeName ?? '';
    const volume = await this.#client.get(PersistentVolume, { name });
    if (volume.metadata.labels?.[LABELS.moving] === copy.id) {
      this.#movingVolumes.observe(volume);
      return;
    }
    const isOurs = staging.metadata.labels?.[LABELS.copy] === copy.id;
    if (!isOurs || volume.spec?.claimRef?.uid !== staging.metadata.uid) {
      throw new Stalled(
        'CopyFailed',
        `the volume ${name} is not bound to the claim that names it, because somebody changed it`,
      );
    }
    await this.#patch(volume, markPatch(copy, volume, staging));
  }

  /**
   * Reserves the volume for the target. Throws Stalled if it belongs to another claim than the one that it was marked
   * with.
   */
  async point(copy: VolumeCopy, volume: PersistentVolume): Promise<void> {
    const from = volume.metadata.annotations?.[REUSABLE_ANNOTATIONS.movesFrom] ?? '{}';
    const { uid } = JSON.parse(from) as { uid?: string };
    if (uid === undefined || volume.spec?.claimRef?.uid !== uid) {
      throw new Stalled(
        'CopyFailed',
        `the volume ${volume.metadata.name} belongs to another claim, because somebody changed it`,
      );
    }
    await this.#patch(volume, pointPatch(copy));
  }

  async release(volume: PersistentVolume): Promise<void> {
    await this.#patch(volume, releasePatch(volume));
  }

  async #patch({ metadata: { name, resourceVersion } }: PersistentVolume, patch: object): Promise<void> {
    this.#movingVolumes.observe(await this.#client.patch(PersistentVolume, { name }, patch, { resourceVersion }));
  }
}
