import { groupNamespace } from '../../crds/ids.ts';
import { LABELS } from '../../crds/labels.ts';
import type { Repository } from '../../crds/repository.ts';
import type { ReusableEnvironment } from '../../crds/reusable-environment.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { keyOf, objectKey, type PersistentVolumeClaim, type Pod } from '../../kubernetes/resource-type.ts';
import type { EnvironmentScope } from '../environment/scope.ts';
import type { EnvironmentStatuses } from '../environment/statuses.ts';
import type { Version } from '../environment/version.ts';
import { Stalled, Waiting } from '../errors.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { isPublicationDue, publicationRefusal, servicesToStop, stoppingLimitSeconds } from './publication.ts';
import {
  begunCopies,
  type Publication,
  publishedContent,
  type PublishedVolume,
  publishedVolumes,
} from './publication-copies.ts';
import type { Reusables } from './reusables.ts';
import { requireStoreRoom, storeUse } from './storage-room.ts';
import type { ReusableStore } from './store.ts';
import type { VolumeCopies } from './volume-copies.ts';
import type { VolumeCopy } from './volume-copy.ts';

export interface PublishingParts {
  repositories: Pick<Informer<Repository>, 'get'>;
  volumeClaims: Pick<Informer<PersistentVolumeClaim>, 'byIndex' | 'get'>;
  pods: Pick<Informer<Pod>, 'byIndex'>;
  reusables: Pick<Reusables, 'ensure' | 'publish'>;
  store: Pick<ReusableStore, 'ensure'>;
  copies: Pick<VolumeCopies, 'advance' | 'drop' | 'isToBegin'>;
  /** What a group's published volumes may have together, as the hard limits of a ResourceQuota. */
  storeQuota: Record<string, string>;
  rolloutDeadlineSeconds: number;
  statuses: EnvironmentStatuses;
}

const none: ReadonlySet<string> = new Set();

/** Makes what a finished build runs, with the contents of its volumes, a reusable environment. */
export class Publishing {
  readonly #parts: PublishingParts;
  readonly #perStore = new KeyedLock();

  constructor(parts: PublishingParts) {
    this.#parts = parts;
  }

  /** Whether builds that are asked for wait until it is done. */
  isUnderWay({ status: { publication, deployed } }: EnvironmentScope): boolean {
    return publication?.result === 'running' && publication.build === deployed?.number;
  }

  /** Of what came up nothing is known any more. */
  giveUp(scope: EnvironmentScope): void {
    const { publication } = scope.status;
    if (publication?.result !== 'running') return;
    publication.result = 'failed';
    letBuild(scope);
  }

  /** Takes the publication of the version that runs as far as it goes; gives the services that are to be stopped now. */
  async advance(scope: EnvironmentScope, version: Version): Promise<ReadonlySet<string>> {
    const { reusable: label } = version.serviceFile;
    const { deployed: build } = scope.status;
    if (label === undefined || !build) {
      this.#withdraw(scope);
      scope.conditions.drop('Published');
      return none;
    }
    const publication = { scope, version, label, build };
    const isTrusted = scope.isTrusted && version.trusted !== false;
    const refusal = publicationRefusal(label, scope.environment.spec, isTrusted, this.#settings(scope));
    if (refusal) {
      if (this.isUnderWay(scope)) await this.#drop(publication);
      this.#withdraw(scope);
      scope.conditions.report('Published', 'False', refusal.reason, refusal.message);
      return none;
    }
    if (!isPublicationDue(scope.status, label, build)) return none;
    try {
      return await this.#publish(publication);
    } catch (error) {
      if (!(error instanceof Stalled) && !(error instanceof Waiting)) throw error;
      // The services start again: nothing may be read of what they write to.
      await this.#drop(publication);
      delete scope.status.publication?.stoppingSince;
      if (error instanceof Waiting) this.#await(publication, error.message, error.afterMs);
      else this.#fail(publication, error);
      return none;
    }
  }

  async #publish(publication: Publication): Promise<ReadonlySet<string>> {
    const { store, reusables, volumeClaims } = this.#parts;
    const { scope, label } = publication;
    const object = await reusables.ensure(scope.repository, label);
    const storeName = await store.ensure(scope.repository.group);
    const volumes = publishedVolumes(publication, storeName, object, (name) =>
      volumeClaims.get(objectKey(scope.namespace, name)),
    );
    // One after another: what one finds room for has arrived before the next one looks.
    return this.#perStore.run(storeName, async () => {
      this.#requireRoom(publication, storeName, object, volumes);
      await this.#begin(publication);
      return this.#copy(publication, object, volumes);
    });
  }

  #requireRoom(
    { scope }: Publication,
    storeName: string,
    object: ReusableEnvironment,
    volumes: readonly PublishedVolume[],
  ): void {
    const claims = this.#parts.volumeClaims.byIndex('namespace', storeName);
    const use = storeUse(claims, new Set(volumes.map(({ copy }) => copy.target.name)), object);
    const sizes = volumes.map(({ copy }) => copy.size);
    requireStoreRoom(sizes, use, this.#parts.storeQuota, this.isUnderWay(scope));
  }

  async #copy(
    publication: Publication,
    object: ReusableEnvironment,
    volumes: readonly PublishedVolume[],
  ): Promise<ReadonlySet<string>> {
    const { copies, reusables } = this.#parts;
    const { scope, version, label, build } = publication;
    const holders = volumes.flatMap(({ copy }) => (copies.isToBegin(copy) ? this.#podsWith(copy) : []));
    this.#limitStopping(publication, holders);
    const phases = [];
    for (const { copy } of volumes) phases.push(await copies.advance(copy, holders.length === 0));
    const done = phases.filter((phase) => phase === 'done').length;
    if (done < volumes.length) {
      this.#await(publication, `${done} of ${volumes.length} volumes are copied`);
      return phases.includes('copying') ? servicesToStop(version.serviceFile) : none;
    }
    if (!(await reusables.publish(keyOf(object), publishedContent(publication, volumes)))) {
      throw new Stalled(
        'Superseded',
        `build ${build.number} came after a later one, or ${label} was deleted meanwhile`,
      );
    }
    this.#end(publication, 'succeeded');
    const message = `build ${build.number} is the reusable environment ${label}`;
    scope.conditions.report('Published', 'True', 'Published', message);
    return none;
  }

  async #begin({ scope, label, build: { number: build } }: Publication): Promise<void> {
    if (this.isUnderWay(scope)) return;
    scope.status.publication = { label, build, result: 'running' };
    await this.#parts.statuses.write(scope);
  }

  async #drop(publication: Publication): Promise<void> {
    for (const copy of begunCopies(publication)) await this.#parts.copies.drop(copy);
  }

  #settings({ repository: { group, name } }: EnvironmentScope): Repository['spec']['reusable'] {
    return this.#parts.repositories.get(objectKey(groupNamespace(group), name))?.spec.reusable;
  }

  /** The pods that have not ended, the copy's own aside, and have the volume. */
  #podsWith({ id, source }: VolumeCopy): string[] {
    const pods = this.#parts.pods.byIndex('namespace', source.namespace).filter(({ metadata, spec, status }) => {
      if (metadata.labels?.[LABELS.copy] === id || ['Succeeded', 'Failed'].includes(status?.phase ?? '')) return false;
      return spec?.volumes?.some((volume) => volume.persistentVolumeClaim?.claimName === source.name) ?? false;
    });
    return pods.map(({ metadata }) => metadata.name);
  }

  /** A pod that does not end, as on a node that is lost, does not keep the services stopped for ever. */
  #limitStopping({ scope, version }: Publication, holders: readonly string[]): void {
    const { publication } = scope.status;
    if (!publication) return;
    if (holders.length === 0) {
      delete publication.stoppingSince;
      return;
    }
    publication.stoppingSince ??= scope.now.toISOString();
    const seconds = stoppingLimitSeconds(version.serviceFile, this.#parts.rolloutDeadlineSeconds);
    const leftMs = Date.parse(publication.stoppingSince) + seconds * 1000 - scope.now.getTime();
    if (leftMs <= 0) {
      const names = [...new Set(holders)].join(', ');
      throw new Stalled(
        'VolumesInUse',
        `after ${seconds} s these pods still have its volumes: ${names}: see why they run`,
      );
    }
    scope.lookAgainIn(leftMs);
  }

  #await({ scope, label }: Publication, why: string, afterMs?: number): void {
    scope.conditions.report('Published', 'Unknown', 'Publishing', `${label} is being published: ${why}`);
    if (afterMs !== undefined) scope.lookAgainIn(afterMs);
  }

  #fail(publication: Publication, { reason, message }: Stalled): void {
    const { scope, label } = publication;
    this.#end(publication, 'failed');
    const remedy = 'what was published before stays; ask for a build to try again';
    scope.conditions.report('Published', 'False', reason, `${label} was not published: ${message}; ${remedy}`);
  }

  #end({ scope, label, build: { number: build } }: Publication, result: 'succeeded' | 'failed'): void {
    scope.status.publication = { label, build, result };
    letBuild(scope);
  }

  #withdraw(scope: EnvironmentScope): void {
    if (this.isUnderWay(scope)) letBuild(scope);
    delete scope.status.publication;
  }
}

/** A build that was asked for meanwhile has waited. */
function letBuild(scope: EnvironmentScope): void {
  if (scope.isBuildPending) scope.lookAgainIn(1);
}
