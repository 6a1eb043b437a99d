import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { isUnavailable } from '../../kubernetes/api-error.ts';
import { isOwnedBy } from '../../kubernetes/owner.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { secretText } from '../../kubernetes/secret-texts.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { addText, removeText, textKey } from '../cluster/owned-secret.ts';
import { randomSuffix } from '../cluster/random-suffix.ts';

type Source = NonNullable<NonNullable<Repository['spec']['serviceFile']>['contentFrom']>;

/**
 * Stores the service files of settings, each in a Secret that the Repository owns: every request and sync rewrites the
 * whole Repository, and all replicas cache it.
 */
export class ServiceFileTexts {
  readonly #cluster: ClusterWriter;
  readonly #randomBytes: RandomBytes;

  constructor(cluster: ClusterWriter, randomBytes: RandomBytes) {
    this.#cluster = cluster;
    this.#randomBytes = randomBytes;
  }

  /**
   * Returns the service file of the settings; empty if there is none, or if the referenced Secret does not belong to
   * the Repository.
   */
  async read(repository: Repository): Promise<string> {
    const { metadata, spec } = repository;
    const { content, contentFrom } = spec.serviceFile ?? {};
    const { namespace, name } = metadata;
    if (contentFrom) {
      const { secretKeyRef } = contentFrom;
      const secret = await this.#cluster.find(Secret, { namespace, name: secretKeyRef.name });
      // Without this check, users who can write Repositories but not read Secrets could read any Secret.
      return (secret && isOwnedBy(secret, repository) ? secretText(secret, secretKeyRef.key) : undefined) ?? '';
    }
    if (content !== undefined || spec.serviceFile === undefined) return content ?? '';
    // Caches omit this field.
    const whole = await this.#cluster.find<Repository>(REPOSITORY, { namespace, name });
    return whole?.spec.serviceFile?.content ?? '';
  }

  /**
   * Stores a text, runs `write` to refer to it, and removes the previous text. Changes of a Repository's text run one
   * at a time, so that none is left behind.
   * @param write is called with null for an empty text
   */
  async replace(
    repository: Repository,
    text: string,
    write: (source: Source | null) => Promise<{ before: Repository; after: Repository }>,
  ): Promise<Repository> {
    const { namespace, name: repositoryName, uid = '' } = repository.metadata;
    // The UID distinguishes the Secret from that of a deleted Repository of the same name.
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
        // A request without a response may have been carried out.
        if (key !== undefined && !isUnavailable(error)) await removeText(this.#cluster, at, key);
        throw error;
      }
    });
  }
}
