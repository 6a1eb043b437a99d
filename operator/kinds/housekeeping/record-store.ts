import { LABELS, MANAGED_BY } from '../../../crds/labels.ts';
import { isNotFound } from '../../../kubernetes/api-error.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import { ConfigMap } from '../../../kubernetes/resource-type.ts';
import { readOnce } from '../../shared/read-once.ts';
import { readRecord, recordText, type HousekeepingRecord, type HousekeepingTaskName } from './record.ts';

/** ConfigMap in the release's namespace with a value for each task. */
export const HOUSEKEEPING_CONFIG_MAP = 'coppice-housekeeping';

/** Stores the records of tasks. Only the leader writes them, so they are read once. */
export class RecordStore {
  readonly #client: Pick<ClusterClient, 'find' | 'create' | 'patch'>;
  readonly #at: { namespace: string; name: string };
  readonly #stored = readOnce(() => this.#load());
  /** Values that were written since. */
  #written: Record<string, string> = {};
  #writing: Promise<void> = Promise.resolve();

  constructor(client: Pick<ClusterClient, 'find' | 'create' | 'patch'>, namespace: string) {
    this.#client = client;
    this.#at = { namespace, name: HOUSEKEEPING_CONFIG_MAP };
  }

  async read(task: HousekeepingTaskName): Promise<HousekeepingRecord | undefined> {
    return readRecord((await this.#data())[task]);
  }

  /** Writes one task's record. Tasks wait for each other's writes, the first of which creates the ConfigMap. */
  write(task: HousekeepingTaskName, record: HousekeepingRecord): Promise<void> {
    const written = this.#writing.then(() => this.#write(task, recordText(record)));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(task: HousekeepingTaskName, text: string): Promise<void> {
    const data = { ...(await this.#data()), [task]: text };
    try {
      await this.#client.patch(ConfigMap, this.#at, { data: { [task]: text } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const metadata = { ...this.#at, labels: { [LABELS.managedBy]: MANAGED_BY } };
      await this.#client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    }
    this.#written = { ...this.#written, [task]: text };
  }

  async #data(): Promise<Record<string, string>> {
    return { ...(await this.#stored()), ...this.#written };
  }

  async #load(): Promise<Record<string, string>> {
    return (await this.#client.find(ConfigMap, this.#at))?.data ?? {};
  }
}
