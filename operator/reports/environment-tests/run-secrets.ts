import type { Environment } from '../../../crds/environment.ts';
import { keptRunsSchema, RUNS_KEY, testRunsSecretName, type KeptRuns } from '../../../crds/environment-tests.ts';
import { HISTORY_KEY, testHistoryIn, type TestHistory } from '../../../crds/test-history.ts';
import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { isForbidden } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { deleteIfThere } from '../../../kubernetes/delete-if-present.ts';
import { isOwnedBy, ownerReference } from '../../../kubernetes/owner.ts';
import { Secret } from '../../../kubernetes/resource-type.ts';
import { encodeTexts, secretText } from '../../../kubernetes/secret-texts.ts';
import { Waiting } from '../../shared/errors.ts';

const recheckMs = 30_000;

export interface StoredTests {
  runs: KeptRuns | undefined;
  history: TestHistory;
}

/**
 * Stores the tester's IDs and secrets of an Environment's runs in a Secret that is deleted with the Environment. Users
 * who can read Environments but not Secrets cannot use the tester on its behalf (ADR 31). The history of the tests is
 * beside them: in the status, each operator and replica of the API would hold it in memory (measured: 22 KB of heap for
 * 20 builds with 8 numbers), and every write of an Environment would store and send it again.
 */
export class RunSecrets {
  readonly #client: Pick<ClusterClient, 'find' | 'create' | 'patch' | 'delete'>;

  constructor(client: Pick<ClusterClient, 'find' | 'create' | 'patch' | 'delete'>) {
    this.#client = client;
  }

  /**
   * Reads the stored runs and history; each is empty if there is none, or it is not valid.
   * @throws Waiting when the Secret belongs to somebody else
   */
  async read(environment: Environment): Promise<StoredTests> {
    const secret = await this.#find(environment);
    return { runs: keptRunsOf(secret), history: testHistoryIn(secretText(secret, HISTORY_KEY)) };
  }

  write(environment: Environment, kept: KeptRuns): Promise<void> {
    return this.#writeText(environment, RUNS_KEY, JSON.stringify(kept));
  }

  writeHistory(environment: Environment, history: TestHistory): Promise<void> {
    return this.#writeText(environment, HISTORY_KEY, JSON.stringify(history));
  }

  async #writeText(environment: Environment, key: string, text: string): Promise<void> {
    const { namespace, name } = environment.metadata;
    const data = encodeTexts({ [key]: text });
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
   * Removes the runs when the contents are deleted. The history stays, because a rebuild deletes the contents too;
   * without one, the Secret is deleted. A Secret that Coppice has no permission to change, such as one without its
   * label, is deleted with the Environment.
   */
  async remove(environment: Environment): Promise<void> {
    const found = await this.#find(environment);
    if (!found) return;
    const { namespace, name, uid } = found.metadata;
    const isEmpty = secretText(found, HISTORY_KEY) === undefined;
    const removed = isEmpty
      ? deleteIfThere(this.#client, Secret, { namespace, name }, { uid })
      : this.#client.patch(Secret, { namespace, name }, { metadata: { uid }, data: { [RUNS_KEY]: null } });
    await removed.catch((error: unknown) => {
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
