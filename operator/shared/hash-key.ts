import { createHmac, randomBytes } from 'node:crypto';
import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { createOrGet } from './create-or-get.ts';
import { readOnce } from './read-once.ts';

/** The Secret in the release's namespace that contains the key. */
export const HASH_KEY_SECRET = 'coppice-hash-key';
const field = 'key';
const length = 32;
const uncached = { observe: () => undefined };

/** Returns a hash of the value, as JSON, that only the operator can compute. */
export function keyedHash(key: Uint8Array, value: unknown): string {
  return createHmac('sha256', key).update(JSON.stringify(value)).digest('hex');
}

/**
 * The key of hashes over secret values. Names that contain such a hash can be read by people who must not know the
 * values; without a key they could test guesses.
 */
export class HashKey {
  readonly #client: Pick<ClusterClient, 'find' | 'get' | 'create'>;
  readonly #namespace: string;

  constructor(client: Pick<ClusterClient, 'find' | 'get' | 'create'>, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** Returns the key, which is created once per installation. Throws if the Secret contains something else. */
  readonly read = readOnce(() => this.#findOrCreate());

  async #findOrCreate(): Promise<Uint8Array> {
    const metadata = {
      namespace: this.#namespace,
      name: HASH_KEY_SECRET,
      labels: { [LABELS.managedBy]: MANAGED_BY },
    };
    const found =
      (await this.#client.find(Secret, metadata)) ??
      (await createOrGet(this.#client, uncached, Secret, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        type: 'Opaque',
        immutable: true,
        data: { [field]: randomBytes(length).toString('base64') },
      }));
    const key = Buffer.from(found.data?.[field] ?? '', 'base64');
    if (key.length === length) return key;
    throw new Error(
      `the Secret ${HASH_KEY_SECRET} contains no ${field} of ${length} bytes. Delete it, and restart the operator`,
    );
  }
}
