import { LABELS, MANAGED_BY } from '../../crds/labels.ts';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-there.ts';
import { ConfigMap } from '../../kubernetes/resource-type.ts';
import { versionSchema, type Version } from './version.ts';

const dataKey = 'version.json';
const namePrefix = 'version-';
const mostRemembered = 2000;

export interface VersionPlace {
  namespace: string;
  namespaceUid: string;
  labels: Record<string, string>;
}

/** Keeps each planned commit as an immutable ConfigMap of the environment's namespace. */
export class VersionStore {
  readonly #client: Pick<ClusterClient, 'create' | 'delete' | 'find' | 'list'>;
  readonly #remembered = new Map<string, Version>();

  constructor(client: Pick<ClusterClient, 'create' | 'delete' | 'find' | 'list'>) {
    this.#client = client;
  }

  async find(place: VersionPlace, commit: string): Promise<Version | undefined> {
    const remembered = this.#remembered.get(memoKey(place, commit));
    if (remembered) return remembered;
    const stored = await this.#client.find(ConfigMap, { namespace: place.namespace, name: objectName(commit) });
    if (!stored) return undefined;
    // What an older Coppice has written may not fit: then the commit is planned anew.
    const version = versionSchema.safeParse(JSON.parse(stored.data?.[dataKey] ?? '{}'));
    if (!version.success) return undefined;
    this.#remember(place, version.data);
    return version.data;
  }

  async save(place: VersionPlace, version: Version): Promise<Version> {
    const object: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: objectName(version.commit), namespace: place.namespace, labels: place.labels },
      immutable: true,
      data: { [dataKey]: JSON.stringify(version) },
    };
    try {
      await this.#client.create(ConfigMap, object);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    this.#remember(place, version);
    return version;
  }

  /** Removes what was planned for other commits than this one. */
  async removeOthers(place: VersionPlace, commit: string): Promise<void> {
    const { namespace } = place;
    const { items } = await this.#client.list(ConfigMap, {
      namespace,
      labelSelector: `${LABELS.managedBy}=${MANAGED_BY}`,
    });
    for (const { metadata } of items) {
      if (metadata.name === objectName(commit) || !metadata.name.startsWith(namePrefix)) continue;
      this.#remembered.delete(memoKey(place, metadata.name.slice(namePrefix.length)));
      await deleteIfThere(this.#client, ConfigMap, { namespace, name: metadata.name });
    }
  }

  #remember(place: VersionPlace, version: Version): void {
    this.#remembered.set(memoKey(place, version.commit), version);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > mostRemembered && oldest !== undefined) this.#remembered.delete(oldest);
  }
}

function objectName(commit: string): string {
  return `${namePrefix}${commit}`;
}

function memoKey(place: VersionPlace, commit: string): string {
  return `${place.namespaceUid}/${commit}`;
}
