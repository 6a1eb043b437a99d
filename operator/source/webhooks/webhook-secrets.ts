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

/** Stores the secret that signs deliveries for each Repository, in a Secret that is deleted with the Repository. */
export class WebhookSecrets {
  readonly #options: WebhookSecretsOptions;

  constructor(options: WebhookSecretsOptions) {
    this.#options = options;
  }

  /** Returns the secret, created if missing. Throws Waiting while a Secret of this name belongs to somebody else. */
  async ensure(repository: Repository): Promise<{ secret: string; isNew: boolean }> {
    const { client, randomBytes } = this.#options;
    const { namespace = '', name: owner } = repository.metadata;
    const name = webhookSecretName(owner);
    const { secret, isNew } = await ensureOwnedSecret(client, repository, {
      name,
      type: 'Opaque',
      keys: [WEBHOOK_SECRET_KEY],
      // GitLab requires this format for a signing token; other hosts accept any text.
      makeTexts: () =>
        Promise.resolve({ [WEBHOOK_SECRET_KEY]: `whsec_${randomBytes(secretBytes).toString('base64')}` }),
      refusal: {
        reason: 'SecretTaken',
        message:
          `the Secret ${name} in ${namespace} was not created for this Repository, or has no ${WEBHOOK_SECRET_KEY}. ` +
          'Delete it; Coppice creates it again. Until then no webhook delivery is accepted',
      },
    });
    return { secret: secretText(secret, WEBHOOK_SECRET_KEY) ?? '', isNew };
  }

  /**
   * Deletes the Secret immediately instead of leaving it to the garbage collector, because a new Repository may need
   * the name. A Secret that Coppice has no permission to delete, such as one without its label, is left to the garbage
   * collector so that it does not block the Repository's deletion.
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
