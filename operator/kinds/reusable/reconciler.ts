import { mergeConditions, type ConditionReport } from '../../../crds/conditions.ts';
import type { Environment } from '../../../crds/environment.ts';
import { groupOfNamespace } from '../../../crds/ids.ts';
import { LABELS } from '../../../crds/labels.ts';
import { REUSABLE_ENVIRONMENT, storeNamespace, type ReusableEnvironment } from '../../../crds/reusable-environment.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { objectKey, PersistentVolumeClaim } from '../../../kubernetes/resource-type.ts';
import { stalled } from '../../shared/conditions.ts';
import { addFinalizer, removeFinalizer } from '../../shared/finalizer.ts';
import type { StatusWriter } from '../../shared/status-writer.ts';
import { REUSABLE_ANNOTATIONS } from './names.ts';
import { publicationOf, supersededClaims } from './publication.ts';
import type { Reusables } from './reusables.ts';

export interface ReusableReconcilerOptions {
  client: Pick<ClusterClient, 'delete' | 'patch'>;
  reusables: Reusables;
  environments: Pick<Informer<Environment>, 'byIndex' | 'get'>;
  volumeClaims: Pick<Informer<PersistentVolumeClaim>, 'byIndex'>;
  statuses: StatusWriter<ReusableEnvironment>;
  now: () => Date;
}

/** Delay before a copy in use is checked again, in milliseconds: the ends of copying and publishing are not watched. */
const inUseRecheckMs = 5000;
const removalRecheckMs = 2000;

/** Keeps a ReusableEnvironment's copies while they are current, and deletes them with it. */
export class ReusableReconciler {
  readonly #options: ReusableReconcilerOptions;

  constructor(options: ReusableReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(key: string): Promise<ReconcileResult> {
    const result = await this.#options.reusables.locked(key, async (object) => {
      if (object.metadata.deletionTimestamp !== undefined) return this.#finalize(object);
      await addFinalizer(this.#options.client, REUSABLE_ENVIRONMENT, object);
      if (object.status?.publication === undefined) await this.#reportEmpty(object);
      return this.#removeSuperseded(object);
    });
    return result ?? {};
  }

  async #reportEmpty(object: ReusableEnvironment): Promise<void> {
    const message = 'nothing has been published yet. A build of an environment publishes it';
    const reports: ConditionReport[] = stalled('NotPublished', message);
    const generation = object.metadata.generation ?? 0;
    const conditions = mergeConditions(object.status?.conditions, reports, generation, this.#options.now());
    await this.#options.statuses.write(object, { ...object.status, observedGeneration: generation, conditions });
  }

  async #removeSuperseded(object: ReusableEnvironment): Promise<ReconcileResult> {
    const claims = this.#claims(object).map((claim) => ({
      claim,
      builtAt: claim.metadata.annotations?.[REUSABLE_ANNOTATIONS.builtAt] ?? '',
      publication: this.#publicationFor(claim),
    }));
    const { gone, awaited } = supersededClaims(claims, object, this.#inUse(object));
    for (const claim of gone) await this.#delete(claim);
    return awaited.length > 0 ? { requeueAfterMs: inUseRecheckMs } : {};
  }

  #publicationFor({ metadata: { annotations } }: PersistentVolumeClaim) {
    const { environment, environmentUid } = REUSABLE_ANNOTATIONS;
    const found = this.#options.environments.get(annotations?.[environment] ?? '');
    return publicationOf(found, annotations?.[environmentUid]);
  }

  async #finalize(object: ReusableEnvironment): Promise<ReconcileResult> {
    const claims = this.#claims(object);
    const inUse = this.#inUse(object);
    for (const claim of claims) if (!inUse.has(claim.metadata.name)) await this.#delete(claim);
    if (claims.length > 0) return { requeueAfterMs: removalRecheckMs };
    await removeFinalizer(this.#options.client, REUSABLE_ENVIRONMENT, object);
    return {};
  }

  #claims({ metadata: { namespace = '', uid } }: ReusableEnvironment): PersistentVolumeClaim[] {
    const store = storeNamespace(groupOfNamespace(namespace) ?? '');
    return this.#options.volumeClaims
      .byIndex('namespace', store)
      .filter(({ metadata }) => metadata.labels?.[LABELS.reusableUid] === uid);
  }

  /** Returns the claims from which new environments are being seeded. */
  #inUse({ metadata: { namespace }, spec }: ReusableEnvironment): Set<string> {
    const all = this.#options.environments.byIndex('repository', objectKey(namespace, spec.repository));
    return new Set(
      all.flatMap(({ metadata, status }) =>
        status?.seed?.result === 'running' && metadata.deletionTimestamp === undefined
          ? status.seed.volumes.map(({ claim }) => claim)
          : [],
      ),
    );
  }

  async #delete(claim: PersistentVolumeClaim): Promise<void> {
    await deleteObject(this.#options.client, PersistentVolumeClaim, claim);
  }
}
