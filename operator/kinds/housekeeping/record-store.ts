import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { isNotFound } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { ConfigMap } from '../../../kubernetes/resource-type.ts';
import { readRecord, recordText, type HousekeepingRecord, type HousekeepingTaskName } from './record.ts';

/** ConfigMap in the release's namespace with a value for each task. */
export const HOUSEKEEPING_CONFIG_MAP = 'coppice-housekeeping';

/** Stores the records of tasks. Only the leader writes them, so they are read once. */
export class RecordStore {
  readonly #client: Pick<ClusterClient, 'find' | 'create' | 'patch'>;
  readonly #at: { namespace: string; name: string };
  #data: Promise<Record<string, string>> | undefined;

  constructor(client: Pick<ClusterClient, 'find' | 'create' | 'patch'>, namespace: string) {
    this.#client = client;
    this.#at = { namespace, name: HOUSEKEEPING_CONFIG_MAP };
  }

  async read(task: HousekeepingTaskName): Promise<HousekeepingRecord | undefined> {
    this.#data ??= this.#load();
    return readRecord((await this.#data)[task]);
  }

  async write(task: HousekeepingTaskName, record: HousekeepingRecord): Promise<void> {
    const text = recordText(record);
    const data = { ...(await this.#data), [task]: text };
    this.#data = Promise.resolve(data);
    try {
      await this.#client.patch(ConfigMap, this.#at, { data: { [task]: text } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const metadata = { ...this.#at, labels: { [LABELS.managedBy]: MANAGED_BY } };
      await this.#client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    }
  }

  async #load(): Promise<Record<string, string>> {
    try {
      return (await this.#client.find(ConfigMap, this.#at))?.data ?? {};
    } catch (error) {
      this.#data = undefined;
      throw error;
    }
  }
}
