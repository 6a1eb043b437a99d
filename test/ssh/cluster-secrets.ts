import { ApiError } from '../../kubernetes/api-error.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';

/** Secrets in memory, with resourceVersions that a patch can require, as in an API server. */
export class ClusterSecrets {
  readonly #secrets = new Map<string, Secret>();
  #version = 0;

  find = (_type: unknown, { name }: { name: string }): Promise<Secret | undefined> =>
    Promise.resolve(structuredClone(this.#secrets.get(name)));

  get = async (type: unknown, at: { name: string }): Promise<Secret> => {
    const found = await this.find(type, at);
    if (!found) throw new ApiError('GET', 404, 'NotFound', 'there is none');
    return found;
  };

  create = async (_type: unknown, secret: Secret): Promise<Secret> => {
    const { name } = secret.metadata;
    if (this.#secrets.has(name)) throw new ApiError('POST', 409, 'AlreadyExists', 'it is there');
    return this.#keep(structuredClone(secret));
  };

  patch = async (
    _type: unknown,
    at: { name: string },
    patch: Pick<Secret, 'metadata' | 'data'>,
    { resourceVersion }: { resourceVersion?: string },
  ): Promise<Secret> => {
    const found = await this.get(undefined, at);
    if (resourceVersion !== found.metadata.resourceVersion) {
      throw new ApiError('PATCH', 409, 'Conflict', 'it has changed');
    }
    return this.#keep({ ...found, data: { ...found.data, ...patch.data } });
  };

  #keep(secret: Secret): Secret {
    const { name } = secret.metadata;
    const kept = { ...secret, metadata: { ...secret.metadata, resourceVersion: String((this.#version += 1)) } };
    this.#secrets.set(name, kept);
    return structuredClone(kept);
  }
}
