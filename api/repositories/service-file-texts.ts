import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { readOwnedText, replaceOwnedText, type TextSource } from '../cluster/owned-text.ts';
import type { RandomBytes } from '../shared/tokens.ts';

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
    if (contentFrom) return readOwnedText(this.#cluster, repository, contentFrom);
    if (content !== undefined || spec.serviceFile === undefined) return content ?? '';
    // Caches omit this field.
    const { namespace, name } = metadata;
    const whole = await this.#cluster.find<Repository>(REPOSITORY, { namespace, name });
    return whole?.spec.serviceFile?.content ?? '';
  }

  /**
   * Stores a text, runs `write` to refer to it, and removes the previous text.
   * @param write is called with null for an empty text
   */
  async replace(
    repository: Repository,
    text: string,
    write: (source: TextSource | null) => Promise<{ before: Repository; after: Repository }>,
  ): Promise<Repository> {
    return replaceOwnedText({
      ...{ cluster: this.#cluster, randomBytes: this.#randomBytes, owner: repository, stem: 'service-file' },
      ...{ sourceOf: ({ spec }) => spec.serviceFile?.contentFrom, text, write },
    });
  }
}
