import { mergeConditions } from '../../../crds/conditions.ts';
import { GROUP_VERSION } from '../../../crds/api-group.ts';
import { groupNamespace, type ResourceId } from '../../../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../../crds/repository.ts';
import {
  REUSABLE_ENVIRONMENT,
  formerReusableName,
  reusableEnvironmentSchema,
  reusableName,
  type ReusableEnvironment,
  type ReusableEnvironmentStatus,
} from '../../../crds/reusable-environment.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import { ownerReference } from '../../../kubernetes/owner.ts';
import { keyOf, objectKey } from '../../../kubernetes/resource-type.ts';
import { ready } from '../../shared/conditions.ts';
import { createOrGet } from '../../shared/create-or-get.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { KeyedLock } from '../../shared/keyed-lock.ts';
import { parseObject } from '../../shared/parse-object.ts';
import type { StatusWriter } from '../../shared/status-writer.ts';
import { isNewer } from './publication.ts';

interface ReusablesOptions {
  client: Pick<ClusterClient, 'create' | 'get'>;
  reusables: Informer<ReusableEnvironment>;
  repositories: Pick<Informer<Repository>, 'get'>;
  statuses: StatusWriter<ReusableEnvironment>;
  now: () => Date;
}

type Content = Required<Pick<ReusableEnvironmentStatus, 'from' | 'publication' | 'builtAt' | 'images' | 'volumes'>>;

const recheckMs = 5000;

/** Finds ReusableEnvironments by repository and label, creates them, and publishes their content. */
export class Reusables {
  readonly #options: ReusablesOptions;
  /** Serializes writes of the status, which the reconciler and publishers share. */
  readonly #lock = new KeyedLock();

  constructor(options: ReusablesOptions) {
    this.#options = options;
  }

  /**
   * Returns the published ReusableEnvironment of the label; undefined if nothing was published, or it is being deleted.
   */
  published(repository: ResourceId, label: string): ReusableEnvironment | undefined {
    const found = this.#find(repository, label);
    if (found?.metadata.deletionTimestamp !== undefined || found?.status?.publication === undefined) return undefined;
    return found;
  }

  /** Runs with the publication, if there is one; its volumes are not deleted meanwhile. */
  whilePublished<T>(
    repository: ResourceId,
    label: string,
    work: (published: ReusableEnvironment) => Promise<T>,
  ): Promise<T | undefined> {
    const found = this.#find(repository, label);
    if (!found) return Promise.resolve(undefined);
    return this.locked(keyOf(found), async () => {
      const published = this.published(repository, label);
      return published && work(published);
    });
  }

  /**
   * Returns the object to publish to, created if missing. Throws Waiting while a previous one is being deleted, Stalled
   * if it belongs to another repository.
   */
  async ensure({ group, name }: ResourceId, label: string): Promise<ReusableEnvironment> {
    const owner = this.#options.repositories.get(objectKey(groupNamespace(group), name));
    if (!owner) throw new Waiting('RepositoryMissing', `there is no ${REPOSITORY.kind} ${name}. Create it`, recheckMs);
    const { client, reusables } = this.#options;
    const object =
      this.#find({ group, name }, label) ??
      (await createOrGet(client, reusables, REUSABLE_ENVIRONMENT, reusableObject(owner, label)));
    if (object.spec.repository !== name || object.spec.label !== label) {
      throw new Stalled(
        'NameTaken',
        `the ReusableEnvironment ${object.metadata.name} belongs to another repository. Delete it`,
      );
    }
    if (object.metadata.deletionTimestamp !== undefined) {
      throw new Waiting('ReusableGoing', 'the previous reusable environment of this label is being deleted', recheckMs);
    }
    return object;
  }

  /**
   * Publishes the content at once; returns false if a later build is already published, or the object is being deleted.
   */
  async publish(key: string, content: Content): Promise<boolean> {
    const isPublished = await this.locked(key, async (object) => {
      if (object.metadata.deletionTimestamp !== undefined || !isNewer(object.status, content.builtAt)) return false;
      const generation = object.metadata.generation ?? 0;
      const count = content.volumes.length;
      const reports = ready('Published', `built at ${content.builtAt}, with ${count} volume${count === 1 ? '' : 's'}`);
      const conditions = mergeConditions(object.status?.conditions, reports, generation, this.#options.now());
      await this.#options.statuses.write(object, { ...content, observedGeneration: generation, conditions });
      return true;
    });
    return isPublished ?? false;
  }

  /** Runs work with the current object, if it exists, while nobody else writes it. */
  locked<T>(key: string, work: (object: ReusableEnvironment) => Promise<T>): Promise<T | undefined> {
    return this.#lock.run(key, async () => {
      const found = this.#options.reusables.get(key);
      return found && work(parseObject(reusableEnvironmentSchema, found).object);
    });
  }

  #find(repository: ResourceId, label: string): ReusableEnvironment | undefined {
    const { group, name } = repository;
    // Objects keep names from earlier versions of Coppice, together with their content.
    for (const one of [reusableName(name, label), formerReusableName(name, label)]) {
      const found = this.#options.reusables.get(objectKey(groupNamespace(group), one));
      if (found?.spec.repository === name && found.spec.label === label) return found;
    }
    return undefined;
  }
}

/** Returns the object, which is deleted with its Repository. */
function reusableObject(owner: Repository, label: string): ReusableEnvironment {
  const { namespace, name: repository } = owner.metadata;
  const owners = [ownerReference({ ...owner, apiVersion: GROUP_VERSION, kind: REPOSITORY.kind })];
  return {
    apiVersion: GROUP_VERSION,
    kind: REUSABLE_ENVIRONMENT.kind,
    metadata: {
      namespace,
      name: reusableName(repository, label),
      labels: { [LABELS.managedBy]: MANAGED_BY },
      ownerReferences: owners,
    },
    spec: { repository, label },
  };
}
