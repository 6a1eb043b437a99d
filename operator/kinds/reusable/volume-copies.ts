import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import {
  Job,
  keyOf,
  objectKey,
  PersistentVolumeClaim,
  type KubernetesObject,
  type PersistentVolume,
  type Pod,
  type ResourceType,
} from '../../../kubernetes/resource-type.ts';
import { createOrGet } from '../../shared/create-or-get.ts';
import { Stalled } from '../../shared/errors.ts';
import { isMadeByCoppice } from '../../../crds/ownership.ts';
import { podsOfJob } from '../../services/objects/job.ts';
import { podDiagnosis } from '../../services/diagnosis/pod-diagnosis.ts';
import { refusedForGood } from '../../services/diagnosis/refusal.ts';
import { copyJob, type CopyJobSettings } from './copy-job.ts';
import { copyName, REUSABLE_ANNOTATIONS } from './names.ts';
import {
  type CopyObjects,
  nextCopyStep,
  readsSource,
  stagingClaim,
  targetClaim,
  type VolumeCopy,
} from './volume-copy.ts';
import { VolumeMoves } from './volume-moves.ts';

export interface CopyCaches {
  jobs: Informer<Job>;
  pods: Informer<Pod>;
  volumeClaims: Informer<PersistentVolumeClaim>;
  /** Only volumes that are being moved. */
  movingVolumes: Informer<PersistentVolume>;
}

/** `copying`: the source is being read, or is about to be. */
export type CopyPhase = 'copying' | 'moving' | 'done';

/**
 * Advances copies of volumes as far as possible. Each step follows from the existing objects, so any operator can
 * continue.
 */
export class VolumeCopies {
  readonly #client: Pick<ClusterClient, 'create' | 'delete' | 'find' | 'get' | 'patch'>;
  readonly #caches: CopyCaches;
  readonly #settings: CopyJobSettings;
  readonly #moves: VolumeMoves;

  constructor(
    client: Pick<ClusterClient, 'create' | 'delete' | 'find' | 'get' | 'patch'>,
    caches: CopyCaches,
    settings: CopyJobSettings,
  ) {
    this.#client = client;
    this.#caches = caches;
    this.#settings = settings;
    this.#moves = new VolumeMoves(client, caches.movingVolumes);
  }

  /** Returns whether the copy has certainly not read anything of the source yet. */
  shouldStart(copy: VolumeCopy): boolean {
    return ['create staging', 'create job'].includes(nextCopyStep(copy, this.#parts(copy)));
  }

  /** Advances the copy. `canRead`: whether nothing writes to the source. Throws Stalled if the copy cannot be made. */
  async advance(copy: VolumeCopy, canRead: boolean): Promise<CopyPhase> {
    for (;;) {
      const parts = this.#parts(copy);
      const step = nextCopyStep(copy, parts);
      if (step === 'done') return 'done';
      if (step === 'create job' && !canRead) return 'copying';
      if (!(await this.#take(copy, step, parts))) return readsSource(step) ? 'copying' : 'moving';
    }
  }

  /** Ends a copy that is no longer needed: deletes its Job, and the claim next to the source. */
  async drop({ id, source: { namespace } }: Pick<VolumeCopy, 'id' | 'source'>): Promise<void> {
    const key = objectKey(namespace, copyName(id));
    const job = this.#caches.jobs.get(key);
    const claim = this.#caches.volumeClaims.get(key);
    if (job) await deleteObject(this.#client, Job, job);
    if (claim) await deleteObject(this.#client, PersistentVolumeClaim, claim);
  }

  /** Ends the copies that were started in a namespace for an environment. */
  async dropAllFor(environmentUid: string, namespace: string): Promise<void> {
    const { jobs, volumeClaims } = this.#caches;
    const isFor = ({ metadata }: KubernetesObject) =>
      metadata.annotations?.[REUSABLE_ANNOTATIONS.environmentUid] === environmentUid;
    const isStaging = ({ metadata }: PersistentVolumeClaim) =>
      metadata.annotations?.[REUSABLE_ANNOTATIONS.builtAt] === undefined;
    for (const job of jobs.byIndex('namespace', namespace).filter(isFor)) await deleteObject(this.#client, Job, job);
    for (const claim of volumeClaims.byIndex('namespace', namespace).filter(isFor).filter(isStaging))
      await deleteObject(this.#client, PersistentVolumeClaim, claim);
  }

  /** Deletes a volume that was copied to an environment that has not started to run. */
  async takeBack(namespace: string, name: string): Promise<void> {
    const claim = this.#caches.volumeClaims.get(objectKey(namespace, name));
    if (claim) await deleteObject(this.#client, PersistentVolumeClaim, claim);
  }

  #parts({ id, source, target }: VolumeCopy): CopyObjects {
    const { jobs, volumeClaims, movingVolumes } = this.#caches;
    const [volume] = movingVolumes.byIndex('moving', id);
    return {
      target: volumeClaims.get(objectKey(target.namespace, target.name)),
      staging: volumeClaims.get(objectKey(source.namespace, copyName(id))),
      job: jobs.get(objectKey(source.namespace, copyName(id))),
      volume,
    };
  }

  /** Takes the next step; returns false if it must wait for the cluster. */
  async #take(copy: VolumeCopy, step: ReturnType<typeof nextCopyStep>, parts: CopyObjects): Promise<boolean> {
    const { staging, job, volume } = parts;
    const { volumeClaims } = this.#caches;
    switch (step) {
      case 'create staging':
        await this.#create(PersistentVolumeClaim, volumeClaims, stagingClaim(copy));
        return true;
      case 'create job':
        await this.#create(Job, this.#caches.jobs, copyJob(copy, this.#settings));
        return false;
      case 'note copied': {
        const patch = { metadata: { annotations: { [REUSABLE_ANNOTATIONS.copied]: 'true' } } };
        const at = { namespace: copy.source.namespace, name: copyName(copy.id) };
        volumeClaims.observe(await this.#client.patch(PersistentVolumeClaim, at, patch));
        return true;
      }
      case 'mark volume':
        if (job) await deleteObject(this.#client, Job, job);
        if (staging) await this.#moves.mark(copy, staging);
        return true;
      case 'delete staging':
        if (staging) await deleteObject(this.#client, PersistentVolumeClaim, staging);
        return false;
      case 'point volume':
        if (volume) await this.#moves.point(copy, volume);
        return true;
      case 'create target':
        if (volume) await this.#create(PersistentVolumeClaim, volumeClaims, targetClaim(copy, volume));
        return true;
      case 'release volume':
        if (volume) await this.#moves.release(volume);
        return true;
      case 'report failure':
        throw new Stalled('CopyFailed', this.#failure(copy, job));
      case 'report loss':
        throw new Stalled('CopyFailed', `the copy of ${copy.source.name} was deleted before it was complete`);
      default:
        return false;
    }
  }

  async #create<T extends KubernetesObject>(type: ResourceType<T>, cache: Informer<T>, object: T): Promise<void> {
    const found = await createOrGet(this.#client, cache, type, object).catch((error: unknown) => {
      throw refusedForGood(error);
    });
    if (isMadeByCoppice(found)) return;
    // The caches contain only Coppice's own objects, so creating it would be retried forever.
    const at = `${type.kind} ${keyOf(object)}`;
    throw new Stalled('CopyFailed', `${at} has the name of the copy and was not created by Coppice. Delete it`);
  }

  #failure({ source }: VolumeCopy, job: Job | undefined): string {
    const pods = job ? podsOfJob(this.#caches.pods, job) : [];
    const words = pods.map((pod) => podDiagnosis(pod)).find((found) => found !== undefined);
    const condition = job?.status?.conditions?.find(({ type }) => type === 'Failed');
    return `${source.name} could not be copied: ${words ?? condition?.message ?? 'no reason was reported'}`;
  }
}
