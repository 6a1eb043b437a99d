import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import type { Job, PersistentVolume, PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { jobState } from '../../services/objects/job.ts';
import { copyName, REUSABLE_ANNOTATIONS } from './names.ts';

/**
 * The copy of one volume: a Job next to the source fills a claim there, whose PersistentVolume is then bound to the
 * target in another namespace (ADR 26).
 */
export interface VolumeCopy {
  id: string;
  source: { namespace: string; name: string };
  target: {
    namespace: string;
    name: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  };
  size: string;
  storageClass: string | undefined;
  environmentKey: string;
  environmentUid: string;
  /** Labels of the Job, its pod and the claim that it fills. */
  labels: Record<string, string>;
}

/** The existing objects of a copy. */
export interface CopyObjects {
  target?: PersistentVolumeClaim | undefined;
  /** The claim next to the source. */
  staging?: PersistentVolumeClaim | undefined;
  job?: Job | undefined;
  /** The PersistentVolume that is marked for this copy. */
  volume?: PersistentVolume | undefined;
}

export type CopyStep =
  | 'create staging'
  | 'create job'
  | 'await job'
  | 'note copied'
  | 'report failure'
  | 'mark volume'
  | 'delete staging'
  | 'await deletion'
  | 'point volume'
  | 'create target'
  | 'await binding'
  | 'release volume'
  | 'report loss'
  | 'done';

/** Returns the next step, determined only by the existing objects. */
export function nextCopyStep(copy: VolumeCopy, { target, staging, job, volume }: CopyObjects): CopyStep {
  if (volume) return nextMove(copy, { target, staging, volume });
  if (target) return target.metadata.deletionTimestamp === undefined ? 'done' : 'await deletion';
  if (staging?.metadata.deletionTimestamp !== undefined) return 'await deletion';
  if (staging?.metadata.annotations?.[REUSABLE_ANNOTATIONS.copied] !== undefined) return 'mark volume';
  if (!staging) return 'create staging';
  if (!job) return 'create job';
  const states = { completed: 'note copied', failed: 'report failure', running: 'await job' } as const;
  return states[jobState(job)];
}

function nextMove({ target: to }: VolumeCopy, { target, staging, volume }: CopyObjects): CopyStep {
  const claimed = volume?.spec?.claimRef;
  if (target) {
    if (target.spec?.volumeName !== volume?.metadata.name) return 'report loss';
    const isBound = target.status?.phase === 'Bound' && claimed?.uid === target.metadata.uid;
    return isBound ? 'release volume' : 'await binding';
  }
  if (staging) return staging.metadata.deletionTimestamp === undefined ? 'delete staging' : 'await deletion';
  if (claimed?.namespace === to.namespace && claimed.name === to.name) {
    return claimed.uid === undefined ? 'create target' : 'report loss';
  }
  return 'point volume';
}

/** Returns whether a Job reads the source volume at this step, or is about to read it. */
export function readsSource(step: CopyStep): boolean {
  return ['create staging', 'create job', 'await job', 'note copied'].includes(step);
}

/** Returns the claim next to the source, which receives the copy. */
export function stagingClaim(copy: VolumeCopy): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      namespace: copy.source.namespace,
      name: copyName(copy.id),
      labels: copyLabels(copy),
      annotations: copyAnnotations(copy),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: copy.size } },
      ...(copy.storageClass !== undefined && { storageClassName: copy.storageClass }),
    },
  };
}

/** Returns the claim at the target, which takes over the volume. */
export function targetClaim({ target, size }: VolumeCopy, volume: PersistentVolume): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...target },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: size } },
      storageClassName: volume.spec?.storageClassName ?? '',
      volumeName: volume.metadata.name,
    },
  };
}

/**
 * Returns the patch that marks a claim's volume as being moved: it outlives its claim, and its original policy is
 * recorded.
 */
export function markPatch(copy: VolumeCopy, volume: PersistentVolume, staging: PersistentVolumeClaim): object {
  const { environment, environmentUid, reclaimPolicy, movesFrom } = REUSABLE_ANNOTATIONS;
  const { namespace, name, uid } = staging.metadata;
  return {
    metadata: {
      labels: { [LABELS.moving]: copy.id },
      annotations: {
        [environment]: copy.environmentKey,
        [environmentUid]: copy.environmentUid,
        [reclaimPolicy]: volume.spec?.persistentVolumeReclaimPolicy ?? 'Retain',
        [movesFrom]: JSON.stringify({ namespace, name, uid }),
      },
    },
    spec: { persistentVolumeReclaimPolicy: 'Retain' },
  };
}

/**
 * Returns the patch that reserves the volume for the target. Keeps the policy: with the original one, the provisioner
 * would delete a volume that still counts as released.
 */
export function pointPatch({ target: { namespace, name } }: VolumeCopy): object {
  return { spec: { claimRef: { namespace, name, uid: null, resourceVersion: null } } };
}

/** Returns the patch that removes the marks from a volume and restores its original policy. */
export function releasePatch({ metadata }: PersistentVolume): object {
  const { environment, environmentUid, reclaimPolicy, movesFrom } = REUSABLE_ANNOTATIONS;
  const former = metadata.annotations?.[reclaimPolicy];
  return {
    metadata: {
      labels: { [LABELS.moving]: null },
      annotations: { [environment]: null, [environmentUid]: null, [reclaimPolicy]: null, [movesFrom]: null },
    },
    spec: { ...(former !== undefined && { persistentVolumeReclaimPolicy: former }) },
  };
}

export function copyLabels({ id, labels }: VolumeCopy): Record<string, string> {
  return { ...labels, [LABELS.managedBy]: MANAGED_BY, [LABELS.copy]: id };
}

export function copyAnnotations({ environmentKey, environmentUid }: VolumeCopy): Record<string, string> {
  return {
    [REUSABLE_ANNOTATIONS.environment]: environmentKey,
    [REUSABLE_ANNOTATIONS.environmentUid]: environmentUid,
  };
}
