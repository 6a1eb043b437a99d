import type { ConditionStatus } from '../../../../crds/conditions.ts';
import type { EnvironmentStatus } from '../../../../crds/environment.ts';
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
import { andThen, type PhaseResult, runPhases } from '../scope/phase.ts';
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

type PublishingResult = PhaseResult<'publication', 'Published'>;

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
  giveUp(scope: EnvironmentScope): PublishingResult {
    const { publication } = scope.status;
    if (publication?.result !== 'running') return {};
    return { status: { publication: { ...publication, result: 'failed' } }, ...heldBuild(scope) };
  }

  /** Advances the publication of the deployed revision; reports the services to stop meanwhile. */
  async advance(scope: EnvironmentScope, revision: Revision): Promise<PublishingResult> {
    const { reusable: label } = revision.serviceFile;
    const { deployed: build } = scope.status;
    if (label === undefined || !build) return { conditions: { Published: undefined }, ...this.#withdraw(scope) };
    const publication = { scope, revision, label, build };
    const isTrusted = scope.isTrusted && revision.trusted !== false;
    const refusal = publicationRefusal(label, scope.environment.spec, isTrusted, this.#settings(scope));
    if (refusal) {
      if (this.isUnderWay(scope)) await this.#drop(publication);
      return { ...published('False', refusal.reason, refusal.message), ...this.#withdraw(scope) };
    }
    if (!isPublicationDue(scope.status, label, build)) return {};
    const { failure, ...result } = await runPhases(
      [(current) => this.#publish({ ...publication, scope: current })],
      scope,
    );
    if (!(failure instanceof Stalled) && !(failure instanceof Waiting)) return { ...result, failure };
    return andThen(scope, { ...result, requeueAfterMs: undefined }, (current) =>
      this.#interrupt({ ...publication, scope: current }, failure),
    );
  }

  async #publish(publication: Publication): Promise<PublishingResult> {
    const { store, reusables, volumeClaims } = this.#options;
    const { scope, label } = publication;
    const object = await reusables.ensure(scope.repository, label);
    const storeName = await store.ensure(scope.repository.group);
    const volumes = publishedVolumes(publication, storeName, object, (name) =>
      volumeClaims.get(objectKey(scope.namespace, name)),
    );
    const { copies } = this.#options;
    // Sequentially: a copy that found room must have been created before the next one checks.
    return this.#perStore.run(storeName, async () => {
      this.#requireRoom(publication, storeName, object, volumes);
      const holders = volumes.flatMap(({ copy }) => (copies.shouldStart(copy) ? this.#podsWith(copy) : []));
      return runPhases(
        [
          () => this.#start(publication),
          (current) => this.#limitStopping({ ...publication, scope: current }, holders),
          (current) => this.#copy({ ...publication, scope: current }, object, volumes, holders.length === 0),
        ],
        scope,
      );
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
    canRead: boolean,
  ): Promise<PublishingResult> {
    const { copies, reusables } = this.#options;
    const { revision, label, build } = publication;
    const phases = [];
    for (const { copy } of volumes) phases.push(await copies.advance(copy, canRead));
    const done = phases.filter((phase) => phase === 'done').length;
    if (done < volumes.length) {
      const progress = inProgress(publication, `${done} of ${volumes.length} volumes are copied`);
      return phases.includes('copying')
        ? { ...progress, observed: { stopped: servicesToStop(revision.serviceFile) } }
        : progress;
    }
    if (!(await reusables.publish(keyOf(object), publishedContent(publication, volumes)))) {
      throw new Stalled(
        'Superseded',
        `a later build was published first, or ${label} was deleted while the volumes were copied`,
      );
    }
    const message = `build ${build.number} is the reusable environment ${label}`;
    return { ...published('True', 'Published', message), ...ended(publication, 'succeeded') };
  }

  async #start({ scope, label, build: { number: build } }: Publication): Promise<PublishingResult> {
    if (this.isUnderWay(scope)) return {};
    const started = { status: { publication: { label, build, result: 'running' } } } as const;
    await this.#options.statuses.write(scope.with(started));
    return started;
  }

  /** The services start again, so nothing may read the volumes that they write to. */
  async #interrupt(publication: Publication, error: Stalled | Waiting): Promise<PublishingResult> {
    await this.#drop(publication);
    const { scope, label, build } = publication;
    if (error instanceof Stalled) {
      const remedy = 'The current publication is kept. To publish again, request a build';
      const message = `build ${build.number} was not published as ${label}: ${error.message}. ${remedy}`;
      return { ...published('False', error.reason, message), ...ended(publication, 'failed') };
    }
    const { publication: publishing } = scope.status;
    return {
      ...inProgress(publication, error.message),
      ...(publishing && { status: { publication: withoutStopping(publishing) } }),
      requeueAfterMs: error.afterMs,
    };
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

  /** Pods that still use the volumes end the publication: one on a lost node must not keep the services stopped. */
  #limitStopping({ scope, revision }: Publication, holders: readonly string[]): PublishingResult {
    const { publication } = scope.status;
    if (!publication) return {};
    if (holders.length === 0) return { status: { publication: withoutStopping(publication) } };
    const { stoppingSince = scope.now.toISOString() } = publication;
    const status = { publication: { ...publication, stoppingSince } };
    const seconds = stoppingLimitSeconds(revision.serviceFile, this.#options.rolloutDeadlineSeconds);
    const leftMs = Date.parse(stoppingSince) + seconds * 1000 - scope.now.getTime();
    if (leftMs > 0) return { status, requeueAfterMs: leftMs };
    const names = [...new Set(holders)].join(', ');
    const message = `these pods still use its volumes ${seconds} s after their services were stopped: ${names}. Check why they do not end`;
    return { status, failure: new Stalled('VolumesInUse', message) };
  }

  #withdraw(scope: EnvironmentScope): PublishingResult {
    return { status: { publication: undefined }, ...(this.isUnderWay(scope) && heldBuild(scope)) };
  }
}

function published(status: ConditionStatus, reason: string, message: string): PublishingResult {
  return { conditions: { Published: { status, reason, message } } };
}

function inProgress({ label }: Publication, why: string): PublishingResult {
  return published('Unknown', 'Publishing', `${label} is being published: ${why}`);
}

function ended(
  { scope, label, build: { number: build } }: Publication,
  result: 'succeeded' | 'failed',
): PublishingResult {
  return { status: { publication: { label, build, result } }, ...heldBuild(scope) };
}

type PublicationStatus = NonNullable<EnvironmentStatus['publication']>;

function withoutStopping({ label, build, result }: PublicationStatus): PublicationStatus {
  return { label, build, result };
}

/** Requeues the Environment if a build was requested during the publication: such a build waits until it has ended. */
function heldBuild(scope: EnvironmentScope): PublishingResult {
  return scope.isBuildPending ? { requeueAfterMs: 1 } : {};
}
