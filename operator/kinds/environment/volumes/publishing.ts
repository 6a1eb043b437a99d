import { groupNamespace } from '../../../../crds/ids.ts';
import { LABELS } from '../../../../crds/labels.ts';
import type { Repository } from '../../../../crds/repository.ts';
import type { ReusableEnvironment } from '../../../../crds/reusable-environment.ts';
import type { Informer } from '../../../../kubernetes/informer.ts';
import { keyOf, objectKey, type PersistentVolumeClaim, type Pod } from '../../../../kubernetes/resource-type.ts';
import type { EnvironmentScope } from '../scope/scope.ts';
import type { EnvironmentStatuses } from '../status/statuses.ts';
import type { Revision } from '../revision/revision.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import { KeyedLock } from '../../../shared/keyed-lock.ts';
import {
  isPublicationDue,
  publicationRefusal,
  servicesToStop,
  stoppingLimitSeconds,
} from '../../reusable/publication.ts';
import type { PhaseResult } from '../scope/phase.ts';
import {
  startedCopies,
  type Publication,
  publishedContent,
  type PublishedVolume,
  publishedVolumes,
} from './publication-copies.ts';
import type { Reusables } from '../../reusable/reusables.ts';
import { requireStoreRoom, storeUse } from '../../reusable/storage-room.ts';
import type { ReusableStore } from '../../group/volume-store.ts';
import type { VolumeCopies } from '../../reusable/volume-copies.ts';
import type { VolumeCopy } from '../../reusable/volume-copy.ts';

export interface PublishingOptions {
  repositories: Pick<Informer<Repository>, 'get'>;
  volumeClaims: Pick<Informer<PersistentVolumeClaim>, 'byIndex' | 'get'>;
  pods: Pick<Informer<Pod>, 'byIndex'>;
  reusables: Pick<Reusables, 'ensure' | 'publish'>;
  store: Pick<ReusableStore, 'ensure'>;
  copies: Pick<VolumeCopies, 'advance' | 'drop' | 'shouldStart'>;
  /** The hard limits of a ResourceQuota over all published volumes of a group. */
  storeQuota: Record<string, string>;
  rolloutDeadlineSeconds: number;
  statuses: Pick<EnvironmentStatuses, 'write'>;
}

/** Progress of a publication. */
export interface PublishingResult extends PhaseResult {
  /** The services to stop now. */
  stopped: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/** Publishes a finished build and its volumes as a reusable environment. */
export class Publishing {
  readonly #options: PublishingOptions;
  readonly #perStore = new KeyedLock();

  constructor(options: PublishingOptions) {
    this.#options = options;
  }

  /** Whether requested builds wait until it is done. */
  isUnderWay({ status: { publication, deployed } }: EnvironmentScope): boolean {
    return publication?.result === 'running' && publication.build === deployed?.number;
  }

  /** Gives up: the deployed revision is unknown. */
  giveUp(scope: EnvironmentScope): PhaseResult {
    const { publication } = scope.status;
    if (publication?.result !== 'running') return {};
    publication.result = 'failed';
    return heldBuild(scope);
  }

  /** Advances the publication of the deployed revision. */
  async advance(scope: EnvironmentScope, revision: Revision): Promise<PublishingResult> {
    const { reusable: label } = revision.serviceFile;
    const { deployed: build } = scope.status;
    if (label === undefined || !build) {
      scope.conditions.drop('Published');
      return this.#withdraw(scope);
    }
    const publication = { scope, revision, label, build };
    const isTrusted = scope.isTrusted && revision.trusted !== false;
    const refusal = publicationRefusal(label, scope.environment.spec, isTrusted, this.#settings(scope));
    if (refusal) {
      if (this.isUnderWay(scope)) await this.#drop(publication);
      scope.conditions.report('Published', 'False', refusal.reason, refusal.message);
      return this.#withdraw(scope);
    }
    if (!isPublicationDue(scope.status, label, build)) return { stopped: none };
    try {
      return await this.#publish(publication);
    } catch (error) {
      if (!(error instanceof Stalled) && !(error instanceof Waiting)) throw error;
      // The services start again, so nothing may read the volumes that they write to.
      await this.#drop(publication);
      delete scope.status.publication?.stoppingSince;
      if (error instanceof Stalled) return this.#fail(publication, error);
      reportProgress(publication, error.message);
      return { stopped: none, requeueAfterMs: error.afterMs };
    }
  }

  async #publish(publication: Publication): Promise<PublishingResult> {
    const { store, reusables, volumeClaims } = this.#options;
    const { scope, label } = publication;
    const object = await reusables.ensure(scope.repository, label);
    const storeName = await store.ensure(scope.repository.group);
    const volumes = publishedVolumes(publication, storeName, object, (name) =>
      volumeClaims.get(objectKey(scope.namespace, name)),
    );
    // Sequentially: a copy that found room must have been created before the next one checks.
    return this.#perStore.run(storeName, async () => {
      this.#requireRoom(publication, storeName, object, volumes);
      await this.#start(publication);
      return this.#copy(publication, object, volumes);
    });
  }

  #requireRoom(
    { scope }: Publication,
    storeName: string,
    object: ReusableEnvironment,
    volumes: readonly PublishedVolume[],
  ): void {
    const claims = this.#options.volumeClaims.byIndex('namespace', storeName);
    const use = storeUse(claims, new Set(volumes.map(({ copy }) => copy.target.name)), object);
    const sizes = volumes.map(({ copy }) => copy.size);
    requireStoreRoom(sizes, use, this.#options.storeQuota, this.isUnderWay(scope));
  }

  async #copy(
    publication: Publication,
    object: ReusableEnvironment,
    volumes: readonly PublishedVolume[],
  ): Promise<PublishingResult> {
    const { copies, reusables } = this.#options;
    const { scope, revision, label, build } = publication;
    const holders = volumes.flatMap(({ copy }) => (copies.shouldStart(copy) ? this.#podsWith(copy) : []));
    const requeueAfterMs = this.#limitStopping(publication, holders);
    const phases = [];
    for (const { copy } of volumes) phases.push(await copies.advance(copy, holders.length === 0));
    const done = phases.filter((phase) => phase === 'done').length;
    if (done < volumes.length) {
      reportProgress(publication, `${done} of ${volumes.length} volumes are copied`);
      return { stopped: phases.includes('copying') ? servicesToStop(revision.serviceFile) : none, requeueAfterMs };
    }
    if (!(await reusables.publish(keyOf(object), publishedContent(publication, volumes)))) {
      throw new Stalled(
        'Superseded',
        `build ${build.number} finished after a later one, or ${label} was deleted meanwhile`,
      );
    }
    const message = `build ${build.number} is the reusable environment ${label}`;
    scope.conditions.report('Published', 'True', 'Published', message);
    return end(publication, 'succeeded');
  }

  async #start({ scope, label, build: { number: build } }: Publication): Promise<void> {
    if (this.isUnderWay(scope)) return;
    scope.status.publication = { label, build, result: 'running' };
    await this.#options.statuses.write(scope);
  }

  async #drop(publication: Publication): Promise<void> {
    for (const copy of startedCopies(publication)) await this.#options.copies.drop(copy);
  }

  #settings({ repository: { group, name } }: EnvironmentScope): Repository['spec']['reusable'] {
    return this.#options.repositories.get(objectKey(groupNamespace(group), name))?.spec.reusable;
  }

  /** Returns the pods that have not ended and use the volume, except the copy's own. */
  #podsWith({ id, source }: VolumeCopy): string[] {
    const pods = this.#options.pods.byIndex('namespace', source.namespace).filter(({ metadata, spec, status }) => {
      if (metadata.labels?.[LABELS.copy] === id || ['Succeeded', 'Failed'].includes(status?.phase ?? '')) return false;
      return spec?.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === source.name) ?? false;
    });
    return pods.map(({ metadata }) => metadata.name);
  }

  /**
   * Returns in how many milliseconds pods that still use the volumes end the publication: a pod that does not
   * terminate, as on a lost node, must not keep the services stopped.
   */
  #limitStopping({ scope, revision }: Publication, holders: readonly string[]): number | undefined {
    const { publication } = scope.status;
    if (!publication) return undefined;
    if (holders.length === 0) {
      delete publication.stoppingSince;
      return undefined;
    }
    publication.stoppingSince ??= scope.now.toISOString();
    const seconds = stoppingLimitSeconds(revision.serviceFile, this.#options.rolloutDeadlineSeconds);
    const leftMs = Date.parse(publication.stoppingSince) + seconds * 1000 - scope.now.getTime();
    if (leftMs <= 0) {
      const names = [...new Set(holders)].join(', ');
      throw new Stalled(
        'VolumesInUse',
        `after ${seconds} s these pods still use its volumes: ${names}. Check why they are running`,
      );
    }
    return leftMs;
  }

  #fail(publication: Publication, { reason, message }: Stalled): PublishingResult {
    const { scope, label } = publication;
    const remedy = 'the previous publication is kept. Request a build to try again';
    scope.conditions.report('Published', 'False', reason, `${label} was not published: ${message}; ${remedy}`);
    return end(publication, 'failed');
  }

  #withdraw(scope: EnvironmentScope): PublishingResult {
    const result = this.isUnderWay(scope) ? heldBuild(scope) : {};
    delete scope.status.publication;
    return { ...result, stopped: none };
  }
}

function reportProgress({ scope, label }: Publication, why: string): void {
  scope.conditions.report('Published', 'Unknown', 'Publishing', `${label} is being published: ${why}`);
}

function end(
  { scope, label, build: { number: build } }: Publication,
  result: 'succeeded' | 'failed',
): PublishingResult {
  scope.status.publication = { label, build, result };
  return { ...heldBuild(scope), stopped: none };
}

/** A build that was requested meanwhile was waiting. */
function heldBuild(scope: EnvironmentScope): PhaseResult {
  return scope.isBuildPending ? { requeueAfterMs: 1 } : {};
}
