import { GROUP_VERSION } from '../../crds/api-group.ts';
import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { ANNOTATIONS, FINALIZER, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { repositoryServer } from '../../crds/repository-server.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { ownerReference } from '../../kubernetes/owner.ts';
import { keyOf, Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { ClusterWriter, FreshCaches } from '../cluster/caches.ts';
import { deleteOwn, requireNotApplied, requireOwn } from '../cluster/ownership.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { updateChecked } from '../cluster/update-checked.ts';
import { awaitGone, awaitReadiness, type Readiness } from '../cluster/readiness.ts';
import type { AccessSettings } from '../environment-access/access-settings.ts';
import { Conflict, Invalid } from '../shared/errors.ts';
import { settingsPatch, type ChangeSettings } from './repository-settings.ts';
import type { ServiceFileTexts } from './service-file-texts.ts';
import { credentialTexts, repositoryResourceName, sourceSpec, type AddRepository } from './repository-parameters.ts';

const readinessTimeoutMs = 10_000;
const goneTimeoutMs = 5000;
/**
 * The operator waits this long for a host that does not respond (`sources.timeoutSeconds`) before it completes a
 * deletion.
 */
const formerGoneTimeoutMs = 20_000;

export interface RepositoryServiceOptions {
  cluster: ClusterWriter;
  cache: FreshCaches['repositories'];
  texts: ServiceFileTexts;
  randomBytes: RandomBytes;
}

export class RepositoryService {
  readonly #options: RepositoryServiceOptions;

  constructor(options: RepositoryServiceOptions) {
    this.#options = options;
  }

  /**
   * Adds a repository to a group, and waits up to 10 s for the operator to reach its Git host.
   * @throws Conflict when the name is taken; Invalid when the repository cannot be used or its host does not respond;
   * the Repository is then deleted
   */
  async add(group: Group, body: AddRepository): Promise<Repository> {
    const { cache, randomBytes } = this.#options;
    const { name } = body;
    const credentials = credentialTexts(body);
    const resourceName = repositoryResourceName(name);
    if (this.#isTaken(groupNamespace(group.metadata.name), name)) throw nameTaken();
    // A random suffix, because the Secret of a repository that was just deleted may still exist.
    const credentialsSecret = credentials && `repository-${resourceName}-${randomSuffix(randomBytes)}`;
    const written = await this.#create({
      apiVersion: GROUP_VERSION,
      kind: REPOSITORY.kind,
      metadata: {
        namespace: groupNamespace(group.metadata.name),
        name: resourceName,
        labels: { [LABELS.managedBy]: MANAGED_BY },
      },
      spec: {
        ...(name !== resourceName && { displayName: name }),
        ...sourceSpec(body, credentialsSecret),
      },
    });
    if (credentials && credentialsSecret) await this.#createCredentials(written, credentialsSecret, credentials);
    cache.observe(written);
    if (await this.#hasTaken(written, name)) {
      await this.#takeBack(written);
      throw nameTaken();
    }
    const readiness = await awaitReadiness(cache, written, readinessTimeoutMs, waitsForKey);
    const { object, isReady, stalled, pending } = readiness;
    if (isReady || waitsForKey(readiness) || isUnseen(readiness)) return object;
    await this.#takeBack(object);
    // The operator may have reconciled before the Secret was written, and still be waiting for the host.
    const reported = pending?.reason === 'CredentialsMissing' ? undefined : pending?.message;
    const message =
      stalled ?? reported ?? 'the Git host did not respond within 10 s. Check the address, then try again';
    throw new Invalid('the repository cannot be used, for the reason in details', {
      details: [{ path: 'params', message }],
    });
  }

  /**
   * Changes a repository's display name; its ID does not change.
   * @throws Conflict when another repository of the group has the name, or another field manager applies it
   */
  async rename(repository: Repository, name: string): Promise<Repository> {
    const { namespace = '', uid } = repository.metadata;
    if (this.#isTaken(namespace, name, uid)) throw nameTaken();
    const { before, after } = await this.#change(repository, { displayName: name });
    if (!(await this.#hasTaken(after, name))) return after;
    const { cluster, cache } = this.#options;
    const former = before.spec.displayName ?? null;
    await updateChecked(cluster, cache, REPOSITORY, after, ({ spec: { displayName = null } }) => ({
      spec: { displayName: displayName === name ? former : displayName },
    }));
    throw nameTaken();
  }

  /**
   * Returns whether another repository has the name that was just written. The cache contains every earlier write: of
   * two concurrent renames, at any replicas, the later one finds the earlier one and must be reverted.
   */
  async #hasTaken({ metadata: { namespace = '', uid, resourceVersion = '' } }: Repository, name: string) {
    await this.#options.cache.upTo(resourceVersion);
    return this.#isTaken(namespace, name, uid);
  }

  #isTaken(namespace: string, name: string, ownUid?: string): boolean {
    const wanted = comparable(name);
    return this.#options.cache
      .byIndex('namespace', namespace)
      .some(
        ({ metadata, spec }) =>
          metadata.uid !== ownUid &&
          metadata.deletionTimestamp === undefined &&
          comparable(spec.displayName ?? metadata.name) === wanted,
      );
  }

  /** Changes only these fields of the spec. @throws Conflict when another field manager applies one of them */
  async change(repository: Repository, spec: Readonly<Record<string, unknown>>): Promise<Repository> {
    return (await this.#change(repository, spec)).after;
  }

  /** Changes the settings in the request. @throws Conflict when another field manager applies one of them */
  async changeSettings(
    repository: Repository,
    settings: ChangeSettings,
    access: Pick<AccessSettings, 'change'>,
  ): Promise<Repository> {
    const { texts } = this.#options;
    const write = (source?: Parameters<typeof settingsPatch>[1]) =>
      access.change(repository, settings, (spec) =>
        this.#change(repository, { ...settingsPatch(settings, source), ...spec }),
      );
    const text = settings.serviceFile?.serviceFile;
    if (text === undefined || text === (await texts.read(repository))) return (await write()).after;
    return texts.replace(repository, text, write);
  }

  #change(repository: Repository, spec: Readonly<Record<string, unknown>>) {
    const { cluster, cache } = this.#options;
    return updateChecked(cluster, cache, REPOSITORY, repository, (current) => {
      requireNotApplied(current, spec);
      return { spec };
    });
  }

  /**
   * Starts the deletion of a repository; the operator deletes its environments.
   * @throws Conflict when the repository or one of its environments belongs to others
   */
  async remove(repository: Repository, environments: readonly Environment[]): Promise<void> {
    for (const environment of environments) requireOwn(environment, repository);
    await deleteOwn(this.#options.cluster, REPOSITORY, repository);
  }

  /**
   * Creates the Repository. If one of this name is being deleted, as after a failed addition, waits until it is gone.
   */
  async #create(repository: Repository): Promise<Repository> {
    const { cluster, cache } = this.#options;
    for (let isLast = false; ; isLast = true) {
      try {
        return await cluster.create(REPOSITORY, repository);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const held = cache.get(keyOf(repository));
        const isGoing = held?.metadata.deletionTimestamp !== undefined;
        if (!isGoing || isLast) {
          const state = isGoing
            ? 'is still being deleted. Try again in a minute, or choose another name'
            : 'already exists in the group. Choose another name';
          throw new Conflict(`a repository of this name ${state}`, { cause: error });
        }
        await awaitGone(cache, held, formerGoneTimeoutMs);
      }
    }
  }

  /**
   * Creates the Secret after the Repository, which owns it from the start: deleting the Repository always deletes the
   * credentials, and the API needs no permission to read or delete Secrets there.
   */
  async #createCredentials(repository: Repository, name: string, texts: Record<string, string>): Promise<void> {
    try {
      await this.#options.cluster.create(Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          namespace: repository.metadata.namespace,
          name,
          labels: { [LABELS.managedBy]: MANAGED_BY },
          annotations: { [ANNOTATIONS.credentialsFor]: repositoryServer(repository.spec) },
          ownerReferences: [ownerReference(repository)],
        },
        type: 'Opaque',
        data: encodeTexts(texts),
      });
    } catch (error) {
      await this.#takeBack(repository);
      throw error;
    }
  }

  async #takeBack(repository: Repository): Promise<void> {
    const { cluster, cache } = this.#options;
    const { namespace, name, uid } = repository.metadata;
    await cluster.delete(REPOSITORY, { namespace, name }, { uid });
    await awaitGone(cache, repository, goneTimeoutMs);
  }
}

/** Returns a name without what readers overlook: upper and lower case, and forms of the same character. */
function comparable(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

function nameTaken(): Conflict {
  return new Conflict('a repository of this name already exists in the group. Choose another name');
}

/**
 * Returns whether the host refuses the SSH key. Such a repository is kept: its users can register the key only after
 * they have seen it.
 */
function waitsForKey({ pending }: Readiness<Repository>): boolean {
  return pending?.reason === 'KeyNotAccepted';
}

/** Returns whether the operator has not reconciled the Repository yet; it may be valid. */
function isUnseen({ object, stalled, pending }: Readiness<Repository>): boolean {
  return stalled === undefined && pending === undefined && !object.metadata.finalizers?.includes(FINALIZER);
}
