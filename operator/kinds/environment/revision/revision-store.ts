import { z } from 'zod';
import { LABELS } from '../../../../crds/labels.ts';
import type { ClusterClient } from '../../../../kubernetes/client.ts';
import { isAlreadyExists } from '../../../../kubernetes/api-error.ts';
import { deleteIfThere } from '../../../../kubernetes/delete-if-present.ts';
import { ConfigMap, Secret } from '../../../../kubernetes/resource-type.ts';
import type { FileContents } from '../../../../service-file/files.ts';
import type { RevisionBudget } from './content-budget.ts';
import { dataBytes, pack, unpack } from './packed.ts';
import { fileObject, fileObjects, hiddenValuesOf, secretTexts, typeOf, valuesObject } from './revision-objects.ts';
import { RevisionMemory, type RememberedRevision } from './revision-memory.ts';
import { storedRevisionSchema, type StoredRevision, type Revision, type RevisionLocation } from './revision.ts';
import { addedBytes, ownBytes, storedBytes, totalBytes, type StoredBytes } from './stored-bytes.ts';

const revisionKey = 'version.json.gz';
/** Contents of files, base64 by bundle and key, in revisions of older Coppices. */
const contentsKey = 'contents.json.gz';
const contentsSchema = z.record(z.string(), z.record(z.string(), z.base64()));
const maxConcurrent = 8;

type StoreClient = Pick<ClusterClient, 'create' | 'delete' | 'find'>;

export interface SaveOptions {
  /** IDs of the revisions that the environment uses, whose objects exist. */
  kept: readonly string[];
  budget: RevisionBudget;
}

/**
 * Stores revisions in the environment's namespace: each as an immutable Secret, because it contains values of
 * variables; the files that it mounts as separate ConfigMaps and Secrets, named by their contents; the values that pods
 * must not show as a Secret for each service.
 */
export class RevisionStore {
  readonly #client: StoreClient;
  readonly #memory = new RevisionMemory();

  readonly #tenantOf: (group: string) => string;

  /** @param tenantOf returns the account that a group counts for */
  constructor(client: StoreClient, tenantOf = (group: string) => group) {
    this.#client = client;
    this.#tenantOf = tenantOf;
  }

  async find(location: RevisionLocation, id: string): Promise<Revision | undefined> {
    return (await this.#find(location, id))?.revision;
  }

  /**
   * Writes the objects that do not exist yet; files must exist before the revision that references them.
   * @throws what the budget throws, before the first write
   */
  async save(
    location: RevisionLocation,
    revision: StoredRevision,
    contents: FileContents,
    { kept, budget }: SaveOptions,
  ): Promise<Revision> {
    const data = { [revisionKey]: await pack(revision) };
    const stored = storedBytes(revision, objectName(revision.id), dataBytes(data));
    const others = await this.#storedOf(location, kept);
    budget.requireRoom(addedBytes(stored, others));
    const isMissing = ({ metadata }: ConfigMap | Secret) => !others.some((other) => other.has(metadata.name));
    const objects = this.#objectsOf(location, revision, contents).filter(isMissing);
    await inChunks(objects, async (object) => {
      if (await this.#isCreated(object)) budget.spend(stored.get(object.metadata.name) ?? 0);
    });
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: objectName(revision.id), namespace: location.namespace, labels: location.labels },
      type: 'coppice.dev/version',
      immutable: true,
      data,
    };
    if (!(await this.#isCreated(secret))) {
      // Deletes a revision that does not match the schema, or that a killed operator stored during its first plan.
      await this.#delete(Secret, location, objectName(revision.id));
      await this.#isCreated(secret);
    }
    budget.spend(ownBytes(stored, objectName(revision.id)));
    return this.#remember(location, revision, contents, stored).revision;
  }

  /** Returns how many bytes these revisions store together. */
  async bytesOf(location: RevisionLocation, ids: readonly string[]): Promise<number> {
    return totalBytes(await this.#storedOf(location, ids));
  }

  /** Deletes revisions that are no longer needed, with the files that none of the `kept` ones mounts. */
  async retire(location: RevisionLocation, ids: readonly string[], kept: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const needed = await Promise.all(kept.map((id) => this.find(location, id)));
    const names = new Set(needed.flatMap((revision) => (revision ? objectNames(revision) : [])));
    for (const id of ids) {
      const revision = await this.find(location, id);
      // It is unknown what a revision that cannot be read uses.
      if (revision && !needed.includes(undefined)) await this.#deleteObjects(location, revision, names);
      await this.#delete(Secret, location, objectName(id));
      this.#memory.delete(location, id);
    }
  }

  async #find(location: RevisionLocation, id: string): Promise<RememberedRevision | undefined> {
    const remembered = this.#memory.get(location, id);
    if (remembered) return remembered;
    const found = await this.#client.find(Secret, { namespace: location.namespace, name: objectName(id) });
    // A revision of an older Coppice may not match the schema; the commit is then planned again.
    const revision = storedRevisionSchema.safeParse(await unpack(found?.data?.[revisionKey])).data;
    if (!revision) return undefined;
    const contents = await this.#findFiles(location, revision, await olderContents(found));
    if (!contents) return undefined;
    await this.#ensureValues(location, revision);
    const stored = storedBytes(revision, objectName(id), dataBytes(found?.data));
    return this.#remember(location, revision, contents, stored);
  }

  /**
   * Returns the contents of the revision's files; undefined if one is missing, which only a new plan can write again.
   * `older`: contents that an older Coppice stored with the revision, from which missing objects are created.
   */
  async #findFiles(
    location: RevisionLocation,
    revision: StoredRevision,
    older: FileContents | undefined,
  ): Promise<FileContents | undefined> {
    const contents = new Map<string, ReadonlyMap<string, Buffer>>(older);
    const missing: string[] = [];
    await inChunks(fileObjects(revision), async (object) => {
      const at = { namespace: location.namespace, name: object.name };
      const given = older?.get(object.name);
      const secret = object.secret ? await this.#client.find(Secret, at) : undefined;
      if (secret && !given) contents.set(object.name, bytesIn(secret.data ?? {}));
      if (object.secret ? secret : await this.#client.find(ConfigMap, at)) return;
      if (given) await this.#isCreated(fileObject(location, object, given));
      else missing.push(object.name);
    });
    return missing.length === 0 ? contents : undefined;
  }

  async #storedOf(location: RevisionLocation, ids: readonly string[]): Promise<StoredBytes[]> {
    const found = await Promise.all(ids.map((id) => this.#find(location, id)));
    return found.flatMap((remembered) => (remembered ? [remembered.stored] : []));
  }

  #objectsOf(location: RevisionLocation, revision: StoredRevision, contents: FileContents): (ConfigMap | Secret)[] {
    const files = fileObjects(revision).map((object) => {
      const given = contents.get(object.name);
      if (!given) throw new Error(`the contents of ${object.name} are missing`);
      return fileObject(location, object, given);
    });
    return [...files, ...hiddenValuesOf(revision).map((values) => valuesObject(location, values))];
  }

  /** Deletes what the revision uses, except what is `kept`. */
  async #deleteObjects(location: RevisionLocation, revision: Revision, kept: ReadonlySet<string>): Promise<void> {
    for (const object of fileObjects(revision))
      if (!kept.has(object.name)) await this.#delete(typeOf(object), location, object.name);
    for (const { secret } of hiddenValuesOf(revision))
      if (!kept.has(secret)) await this.#delete(Secret, location, secret);
  }

  /** Creates Secrets of values that are missing. */
  async #ensureValues(location: RevisionLocation, revision: StoredRevision): Promise<void> {
    for (const values of hiddenValuesOf(revision)) {
      const found = await this.#client.find(Secret, { namespace: location.namespace, name: values.secret });
      if (!found) await this.#isCreated(valuesObject(location, values));
    }
  }

  /** Returns false if an object of that name already exists. */
  async #isCreated(object: ConfigMap | Secret): Promise<boolean> {
    try {
      await this.#client.create(object.kind === 'Secret' ? Secret : ConfigMap, object);
      return true;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return false;
    }
  }

  #delete(type: typeof Secret | typeof ConfigMap, { namespace }: RevisionLocation, name: string): Promise<unknown> {
    return deleteIfThere(this.#client, type, { namespace, name });
  }

  #remember(
    location: RevisionLocation,
    revision: StoredRevision,
    contents: FileContents,
    stored: StoredBytes,
  ): RememberedRevision {
    const secrets = [...secretTexts(revision, contents), ...(revision.masked ?? [])];
    const tenant = this.#tenantOf(location.labels[LABELS.group] ?? '');
    return this.#memory.set(location, { revision: { ...revision, secrets }, stored }, tenant);
  }
}

/** Names of the objects that the revision's pods need. */
function objectNames(revision: Revision): string[] {
  return [...fileObjects(revision).map(({ name }) => name), ...hiddenValuesOf(revision).map(({ secret }) => secret)];
}

async function olderContents(secret: Secret | undefined): Promise<FileContents | undefined> {
  const contents = contentsSchema.safeParse(await unpack(secret?.data?.[contentsKey])).data;
  return contents && new Map(Object.entries(contents).map(([name, files]) => [name, bytesIn(files)]));
}

function bytesIn(data: Record<string, string>): ReadonlyMap<string, Buffer> {
  return new Map(Object.entries(data).map(([key, base64]) => [key, Buffer.from(base64, 'base64')]));
}

async function inChunks<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += maxConcurrent) await Promise.all(all.slice(at, at + maxConcurrent).map(work));
}

function objectName(id: string): string {
  return `version-${id}`;
}
