import { formatId, groupNamespace, type ResourceId } from '../../crds/ids.ts';
import type { Repository } from '../../crds/repository.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import type { Informer } from '../../kubernetes/informer.ts';
import { objectKey, Secret } from '../../kubernetes/resource-type.ts';
import { Stalled, Waiting } from '../errors.ts';
import type { SourceAccess } from '../source/source.ts';

/** A Secret may be applied after the Repository that names it; it is not watched. */
const secretRecheckMs = 2000;

/** Finds where a Repository's code is and with which credentials it is read. */
export class RepositoryAccess {
  readonly #client: Pick<ClusterClient, 'find'>;
  readonly #repositories: Informer<Repository>;

  constructor(client: Pick<ClusterClient, 'find'>, repositories: Informer<Repository>) {
    this.#client = client;
    this.#repositories = repositories;
  }

  /** Throws Stalled when there is no such Repository, Waiting while the Secret that it names is not there. */
  async access(id: ResourceId): Promise<SourceAccess> {
    const repository = this.#repositories.get(objectKey(groupNamespace(id.group), id.name));
    if (!repository) {
      throw new Stalled('RepositoryNotFound', `there is no Repository ${formatId(id)}: create it, or correct the name`);
    }
    return this.of(repository);
  }

  async of(repository: Repository): Promise<SourceAccess> {
    const { generic } = repository.spec;
    if (!generic) throw new Stalled('Invalid', 'the Repository has no object `generic`');
    if (generic.credentialsSecret === undefined) return { origin: generic.origin, credentials: undefined };
    const { namespace } = repository.metadata;
    const secret = await this.#client.find(Secret, { namespace, name: generic.credentialsSecret });
    const username = decode(secret, 'username');
    const password = decode(secret, 'password');
    if (username === undefined || password === undefined) {
      throw new Waiting(
        'CredentialsMissing',
        `the Secret ${generic.credentialsSecret} with the keys username and password is not in ${namespace ?? ''}`,
        secretRecheckMs,
      );
    }
    return { origin: generic.origin, credentials: { username, password } };
  }
}

function decode(secret: Secret | undefined, key: string): string | undefined {
  const value = secret?.data?.[key];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}
