import type { ClusterClient } from '../../kubernetes/client.ts';
import { Namespace } from '../../kubernetes/resource-type.ts';

/**
 * The ID of this installation: the UID of the release's namespace, which no other cluster and no other installation has,
 * even if it was restored from a backup of this one.
 */
export class Installation {
  readonly #client: Pick<ClusterClient, 'get'>;
  readonly #namespace: string;
  #id: Promise<string> | undefined;

  constructor(client: Pick<ClusterClient, 'get'>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  readonly id = (): Promise<string> => {
    this.#id ??= this.#read().catch((error: unknown) => {
      this.#id = undefined;
      throw error;
    });
    return this.#id;
  };

  async #read(): Promise<string> {
    const { metadata } = await this.#client.get(Namespace, { name: this.#namespace });
    if (metadata.uid === undefined) throw new Error(`the namespace ${this.#namespace} has no UID`);
    return metadata.uid;
  }
}
