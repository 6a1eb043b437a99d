import type { Repository } from '../../../crds/repository.ts';
import { WEBHOOK_SECRET_KEY, webhookSecretName } from '../../../crds/webhook.ts';
import { isForbidden } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteObject } from '../../../kubernetes/delete-object.ts';
import { isOwnedBy } from '../../../kubernetes/owner.ts';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { secretText } from '../../../kubernetes/secret-texts.ts';
import { ensureOwnedSecret } from '../../shared/owned-secret.ts';

export interface WebhookSecretsOptions {
  client: Pick<ClusterClient, 'find' | 'get' | 'create' | 'delete'>;
  randomBytes: (size: number) => Buffer;
}

const secretBytes = 32;

/** Keeps what signs the deliveries for each Repository, in a Secret that goes with it. */
export class WebhookSecrets {
  readonly #options: WebhookSecretsOptions;

  constructor(options: WebhookSecretsOptions) {
    this.#options = options;
  }

  /** The secret, made where there is none. Throws Waiting while a Secret of the name is somebody else's. */
  async ensure(repository: Repository): Promise<{ secret: string; isNew: boolean }> {
    const { client, randomBytes } = this.#options;
    const { namespace = '', name: owner } = repository.metadata;
    const name = webhookSecretName(owner);
    const { secret, isNew } = await ensureOwnedSecret(client, repository, {
      name,
      type: 'Opaque',
      keys: [WEBHOOK_SECRET_KEY],
      // GitLab takes a signing token in no other form; to the other hosts it is a text as good as any.
      makeTexts: () =>
        Promise.resolve({ [WEBHOOK_SECRET_KEY]: `whsec_${randomBytes(secretBytes).toString('base64')}` }),
      refusal: {
        reason: 'SecretTaken',
        message:
          `the Secret ${name} in ${namespace} was not made for this Repository, or has no ${WEBHOOK_SECRET_KEY}. ` +
          'Delete it; Coppice creates it again. Until then no webhook delivery is accepted',
      },
    });
    return { secret: secretText(secret, WEBHOOK_SECRET_KEY) ?? '', isNew };
  }

  /**
   * At once, and not when the garbage collector comes to it: a new Repository may want the name. One that the cluster does
   * not let Coppice delete, as without its label, is left to the collector, for it would keep the Repository.
   */
  async remove(repository: Repository): Promise<void> {
    const { client } = this.#options;
    const at = { namespace: repository.metadata.namespace, name: webhookSecretName(repository.metadata.name) };
    const found = await client.find(Secret, at);
    if (!found || !isOwnedBy(found, repository)) return;
    await deleteObject(client, Secret, found).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
    });
  }
}
