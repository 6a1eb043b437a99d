import { GROUP_VERSION } from '../../crds/api-group.ts';
import type { Group } from '../../crds/group.ts';
import { groupNamespace } from '../../crds/ids.ts';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';
import { awaitGone, awaitVerdict } from '../cluster/verdict.ts';
import { Conflict, Invalid } from '../http/errors.ts';
import { repositoryResourceName, type AddRepository } from './repository-parameters.ts';

const verdictTimeoutMs = 10_000;
const goneTimeoutMs = 5000;

export interface RepositoryDependencies {
  cluster: Pick<ClusterWriter, 'create' | 'delete'>;
  cache: Caches['repositories'];
  randomBytes: RandomBytes;
}

export class RepositoryService {
  readonly #dependencies: RepositoryDependencies;

  constructor(dependencies: RepositoryDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Adds a repository to a group and waits for what the operator finds at its origin, 10 s at most.
   * @throws Conflict when the name is taken; Invalid when the operator refuses it, and then nothing is left of it.
   */
  async add(group: Group, { name, params }: AddRepository): Promise<Repository> {
    const { cache, randomBytes } = this.#dependencies;
    const hasCredentials = params.username !== '' || params.password !== '';
    const resourceName = repositoryResourceName(name);
    // A name of its own, so that the Secret of a repository that was just deleted is not in the way.
    const credentialsSecret = hasCredentials ? `repository-${resourceName}-${randomSuffix(randomBytes)}` : undefined;
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
        type: 'generic',
        generic: { origin: params.origin, ...(credentialsSecret !== undefined && { credentialsSecret }) },
      },
    });
    if (credentialsSecret !== undefined) await this.#createCredentials(written, credentialsSecret, params);
    cache.observe(written);
    const { object, stalled } = await awaitVerdict(cache, written, verdictTimeoutMs);
    if (stalled === undefined) return object;
    await this.#remove(object);
    throw new Invalid('the repository cannot be used', { details: [{ path: 'params', message: stalled }] });
  }

  async #create(repository: Repository): Promise<Repository> {
    try {
      return await this.#dependencies.cluster.create(REPOSITORY, repository);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      throw new Conflict('a repository of this name exists already in the group', { cause: error });
    }
  }

  /**
   * After the Repository, which owns it from its first moment: however this ends, deleting the Repository leaves no
   * password behind, and the API needs no permission to read or delete Secrets there.
   */
  async #createCredentials(
    repository: Repository,
    name: string,
    { username, password }: AddRepository['params'],
  ): Promise<void> {
    const { namespace, name: owner, uid = '' } = repository.metadata;
    const { apiVersion, kind } = repository;
    try {
      await this.#dependencies.cluster.create(Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          namespace,
          name,
          labels: { [LABELS.managedBy]: MANAGED_BY },
          ownerReferences: [{ apiVersion, kind, name: owner, uid }],
        },
        type: 'Opaque',
        data: {
          username: Buffer.from(username).toString('base64'),
          password: Buffer.from(password).toString('base64'),
        },
      });
    } catch (error) {
      await this.#remove(repository);
      throw error;
    }
  }

  async #remove(repository: Repository): Promise<void> {
    const { cluster, cache } = this.#dependencies;
    const { namespace, name, uid } = repository.metadata;
    await cluster.delete(REPOSITORY, { namespace, name }, { uid });
    await awaitGone(cache, repository, goneTimeoutMs);
  }
}
