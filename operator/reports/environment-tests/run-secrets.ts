import type { Environment } from '../../../crds/environment.ts';
import { keptRunsSchema, RUNS_KEY, testRunsSecretName, type KeptRuns } from '../../../crds/environment-tests.ts';
import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { isForbidden } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteIfThere } from '../../../kubernetes/delete-if-present.ts';
import { isOwnedBy, ownerReference } from '../../../kubernetes/owner.ts';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../../kubernetes/secret-texts.ts';
import { Waiting } from '../../shared/errors.ts';

const recheckMs = 30_000;

/**
 * Stores the tester's IDs and secrets of an Environment's runs in a Secret that is deleted with the Environment. Users
 * who can read Environments but not Secrets cannot use the tester on its behalf (ADR 31).
 */
export class RunSecrets {
  readonly #client: Pick<ClusterClient, 'find' | 'create' | 'patch' | 'delete'>;

  constructor(client: Pick<ClusterClient, 'find' | 'create' | 'patch' | 'delete'>) {
    this.#client = client;
  }

  /**
   * Reads the stored runs; undefined if there are none, or they are not valid.
   * @throws Waiting when the Secret belongs to somebody else
   */
  async read(environment: Environment): Promise<KeptRuns | undefined> {
    return keptRunsOf(await this.#find(environment));
  }

  async write(environment: Environment, kept: KeptRuns): Promise<void> {
    const { namespace, name } = environment.metadata;
    const data = encodeTexts({ [RUNS_KEY]: JSON.stringify(kept) });
    const found = await this.#find(environment);
    if (found) {
      const { uid } = found.metadata;
      await this.#client.patch(Secret, { namespace, name: found.metadata.name }, { metadata: { uid }, data });
      return;
    }
    await this.#client.create(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        namespace,
        name: testRunsSecretName(name),
        labels: { [LABELS.managedBy]: MANAGED_BY },
        ownerReferences: [ownerReference(environment)],
      },
      type: 'coppice.dev/test-runs',
      data,
    });
  }

  /**
   * Deletes the Secret. One that Coppice has no permission to delete, such as one without its label, is deleted with
   * the Environment.
   */
  async remove(environment: Environment): Promise<void> {
    const found = await this.#find(environment);
    if (!found) return;
    const { namespace, name, uid } = found.metadata;
    await deleteIfThere(this.#client, Secret, { namespace, name }, { uid }).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
    });
  }

  async #find(environment: Environment): Promise<Secret | undefined> {
    const { namespace, name } = environment.metadata;
    const found = await this.#client.find(Secret, { namespace, name: testRunsSecretName(name) });
    if (!found || isOwnedBy(found, environment)) return found;
    const words = `the Secret ${testRunsSecretName(name)} does not belong to the environment. Delete it`;
    throw new Waiting('SecretNotOwned', words, recheckMs);
  }
}

function keptRunsOf(secret: Secret | undefined): KeptRuns | undefined {
  const text = secretText(secret, RUNS_KEY);
  if (text === undefined) return undefined;
  try {
    return keptRunsSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
