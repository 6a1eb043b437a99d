import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { isUnavailable } from '../../kubernetes/api-error.ts';
import { isOwnedBy } from '../../kubernetes/owner.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import type { RandomBytes } from '../auth/tokens.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { addText, removeText, textKey } from '../cluster/owned-secret.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';

type Source = NonNullable<NonNullable<Repository['spec']['serviceFile']>['contentFrom']>;

/**
 * The service files of settings, each in a Secret of its own that the Repository owns: a Repository is rewritten whole by
 * every request and every sync, and is in the caches of all replicas.
 */
export class ServiceFileTexts {
  readonly #cluster: ClusterWriter;
  readonly #randomBytes: RandomBytes;

  constructor(cluster: ClusterWriter, randomBytes: RandomBytes) {
    this.#cluster = cluster;
    this.#randomBytes = randomBytes;
  }

  /** Returns the content of the settings; empty where there is none, and where it is in a Secret that is not the Repository's. */
  async read(repository: Repository): Promise<string> {
    const { metadata, spec } = repository;
    const { content, contentFrom } = spec.serviceFile ?? {};
    const { namespace, name } = metadata;
    if (contentFrom) {
      const { secretKeyRef } = contentFrom;
      const secret = await this.#cluster.find(Secret, { namespace, name: secretKeyRef.name });
      // Whoever may write Repositories, and read no Secret, could otherwise have any other one shown.
      return (secret && isOwnedBy(secret, repository) ? secretText(secret, secretKeyRef.key) : undefined) ?? '';
    }
    if (content !== undefined || spec.serviceFile === undefined) return content ?? '';
    // Caches leave it out.
    const whole = await this.#cluster.find<Repository>(REPOSITORY, { namespace, name });
    return whole?.spec.serviceFile?.content ?? '';
  }

  /**
   * Keeps a text, lets `write` refer to it, and takes out the one that it replaces. Texts of a Repository are replaced one
   * at a time, so that none is left behind.
   * @param write is given null for an empty text
   */
  async replace(
    repository: Repository,
    text: string,
    write: (source: Source | null) => Promise<{ before: Repository; after: Repository }>,
  ): Promise<Repository> {
    const { namespace, name: repositoryName, uid = '' } = repository.metadata;
    // The UID keeps it apart from one that is still to go with a former Repository of the same name.
    const at = { namespace, name: `service-file-${repositoryName}-${uid.slice(-8)}` };
    return this.#cluster.exclusively(Secret, at, async () => {
      const key = text === '' ? undefined : textKey('content', randomSuffix(this.#randomBytes), text);
      if (key !== undefined) await addText(this.#cluster, repository, at, key, text);
      try {
        const source = key === undefined ? null : { secretKeyRef: { name: at.name, key } };
        const { before, after } = await write(source);
        const former = before.spec.serviceFile?.contentFrom?.secretKeyRef;
        if (former?.name === at.name) await removeText(this.#cluster, at, former.key);
        return after;
      } catch (error) {
        // A request that got no answer may have been carried out.
        if (key !== undefined && !isUnavailable(error)) await removeText(this.#cluster, at, key);
        throw error;
      }
    });
  }
}
