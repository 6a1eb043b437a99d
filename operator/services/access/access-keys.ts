import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import {
  ACCESS_KEYS_SECRET,
  newAccessKey,
  planKeyRotation,
  readAccessKeys,
  type AccessKey,
} from '../../../environment-access/keys.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { ReconcileResult } from '../../../kubernetes/controller.ts';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { createOrGet } from '../../shared/create-or-get.ts';

export interface AccessKeysOptions {
  client: Pick<ClusterClient, 'find' | 'get' | 'create' | 'patch'>;
  /** The release's namespace. */
  namespace: string;
  randomBytes: (size: number) => Buffer;
  now: () => Date;
}

const uncached = { observe: () => undefined };

/**
 * Manages the Secret with the keys that sign cookies and links of environments: creates it, and rotates the keys. An
 * administrator who deletes it ends all of them.
 */
export class AccessKeys {
  readonly #options: AccessKeysOptions;
  #keys: readonly AccessKey[] = [];

  constructor(options: AccessKeysOptions) {
    this.#options = options;
  }

  readonly keys = (): readonly AccessKey[] => this.#keys;

  /** Reconciles this controller's only key; housekeeping repeats it. */
  async reconcile(): Promise<ReconcileResult> {
    const { client, namespace, now, randomBytes } = this.#options;
    const at = Math.floor(now().getTime() / 1000);
    let secret = await this.#findOrCreate(at);
    const { add, remove } = planKeyRotation(readAccessKeys(secret.data), at);
    if (add || remove.length > 0) {
      const data = {
        ...(add && newAccessKey(at, randomBytes)),
        ...Object.fromEntries(remove.map(({ createdAt }) => [String(createdAt), null])),
      };
      const { resourceVersion } = secret.metadata;
      const preconditions = resourceVersion === undefined ? {} : { resourceVersion };
      secret = await client.patch(Secret, { namespace, name: ACCESS_KEYS_SECRET }, { data }, preconditions);
    }
    this.#keys = readAccessKeys(secret.data);
    return {};
  }

  async #findOrCreate(at: number): Promise<Secret> {
    const { client, namespace, randomBytes } = this.#options;
    const found = await client.find(Secret, { namespace, name: ACCESS_KEYS_SECRET });
    if (found) return found;
    return createOrGet(client, uncached, Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: ACCESS_KEYS_SECRET, labels: { [LABELS.managedBy]: MANAGED_BY } },
      type: 'Opaque',
      data: newAccessKey(at, randomBytes),
    });
  }
}
