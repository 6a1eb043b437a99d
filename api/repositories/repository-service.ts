import { GROUP_VERSION } from '../../crds/api-group.ts';
import type { Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { ANNOTATIONS, FINALIZER, LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { repositoryServer } from '../../crds/repository-server.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { ownerReference } from '../../kubernetes/owner.ts';
import { keyOf, Secret } from '../../kubernetes/resource-type.ts';
import { encodeTexts } from '../../kubernetes/secret-texts.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { awaitGone, awaitVerdict, type Verdict } from '../cluster/verdict.ts';
import { Conflict, Invalid } from '../http/errors.ts';
import { credentialTexts, repositoryResourceName, sourceSpec, type AddRepository } from './repository-parameters.ts';

const verdictTimeoutMs = 10_000;
const goneTimeoutMs = 5000;
/** As long as the operator waits for a host that hangs (`sources.timeoutSeconds`), before it lets a deleted one go. */
const formerGoneTimeoutMs = 20_000;

export interface RepositoryDependencies {
  cluster: Pick<ClusterWriter, 'create' | 'patch' | 'delete'>;
  cache: Caches['repositories'];
  randomBytes: RandomBytes;
}

export class RepositoryService {
  readonly #dependencies: RepositoryDependencies;

  constructor(dependencies: RepositoryDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Adds a repository to a group and waits for what the operator finds at its Git host, 10 s at most.
   * @throws Conflict when the name is taken; Invalid when it cannot be used or its host does not answer, and then
   * nothing is left of it.
   */
  async add(group: Group, body: AddRepository): Promise<Repository> {
    const { cache, randomBytes } = this.#dependencies;
    const { name } = body;
    const credentials = credentialTexts(body);
    const resourceName = repositoryResourceName(name);
    // A name of its own, so that the Secret of a repository that was just deleted is not in the way.
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
    const verdict = await awaitVerdict(cache, written, verdictTimeoutMs, waitsForKey);
    const { object, isReady, stalled, pending } = verdict;
    if (isReady || waitsForKey(verdict) || isUnseen(verdict)) return object;
    await this.#takeBack(object);
    // The operator may have looked before the Secret was written, and have waited for the host since.
    const said = pending?.reason === 'CredentialsMissing' ? undefined : pending?.message;
    const message = stalled ?? said ?? 'the Git host has not answered within 10 s';
    throw new Invalid('the repository cannot be used', { details: [{ path: 'params', message }] });
  }

  /** Changes these fields of the spec alone. */
  async change({ metadata: { namespace, name, uid } }: Repository, spec: object): Promise<Repository> {
    const { cluster, cache } = this.#dependencies;
    // The uid makes the API server refuse it for another object of the same name.
    const written = await cluster.patch<Repository>(REPOSITORY, { namespace, name }, { metadata: { uid }, spec });
    cache.observe(written);
    return written;
  }

  /** Starts the deletion of a repository; the operator takes its environments away with it. */
  async remove({ metadata: { namespace, name, uid } }: Repository): Promise<void> {
    await this.#dependencies.cluster.delete(REPOSITORY, { namespace, name }, { uid });
  }

  /** Where the one that has the name is going, as after an addition that failed, it is waited for. */
  async #create(repository: Repository): Promise<Repository> {
    const { cluster, cache } = this.#dependencies;
    for (let isLast = false; ; isLast = true) {
      try {
        return await cluster.create(REPOSITORY, repository);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const held = cache.get(keyOf(repository));
        const isGoing = held?.metadata.deletionTimestamp !== undefined;
        if (!isGoing || isLast) {
          const state = isGoing
            ? 'is still being deleted: try again in a minute, or choose another name'
            : 'exists already in the group';
          throw new Conflict(`a repository of this name ${state}`, { cause: error });
        }
        await awaitGone(cache, held, formerGoneTimeoutMs);
      }
    }
  }

  /**
   * After the Repository, which owns it from its first moment: however this ends, deleting the Repository leaves no
   * password behind, and the API needs no permission to read or delete Secrets there.
   */
  async #createCredentials(repository: Repository, name: string, texts: Record<string, string>): Promise<void> {
    try {
      await this.#dependencies.cluster.create(Secret, {
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
    await this.remove(repository);
    await awaitGone(this.#dependencies.cache, repository, goneTimeoutMs);
  }
}

/** Nobody can let a key in before it was shown to them: so the repository stays. */
function waitsForKey({ pending }: Verdict<Repository>): boolean {
  return pending?.reason === 'KeyNotAccepted';
}

/** No operator has looked at it: nothing is known against it. */
function isUnseen({ object, stalled, pending }: Verdict<Repository>): boolean {
  return stalled === undefined && pending === undefined && !object.metadata.finalizers?.includes(FINALIZER);
}
