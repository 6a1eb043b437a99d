import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import type { ClusterClient } from '../../../../kubernetes/client.ts';
import { isAlreadyExists } from '../../../../kubernetes/api-error.ts';
import { deleteIfThere } from '../../../../kubernetes/delete-if-present.ts';
import { ConfigMap, Secret } from '../../../../kubernetes/resource-type.ts';
import type { BundleContents } from '../../../../service-file/files.ts';
import type { FileBundle } from '../../../../service-file/schema.ts';
import type { HiddenValues } from '../../../services/objects/hidden-values.ts';
import { bundleObject, valuesObject } from './bundle-object.ts';
import { storedRevisionSchema, type StoredRevision, type Revision, type RevisionLocation } from './revision.ts';

const revisionKey = 'version.json.gz';
const contentsKey = 'contents.json.gz';
/** In characters of JSON; a service file can have a MiB. */
const maxRemembered = 32 * 1024 * 1024;
const contentsSchema = z.record(z.string(), z.record(z.string(), z.base64()));
/** Base64, by bundle and key. */
type PlainContents = z.infer<typeof contentsSchema>;

type StoreClient = Pick<ClusterClient, 'create' | 'delete' | 'find'>;

/**
 * Stores revisions in the environment's namespace: each as an immutable Secret, because it contains values of
 * variables; the files that it mounts as separate ConfigMaps and Secrets; the values that pods must not show as a Secret
 * for each service.
 */
export class RevisionStore {
  readonly #client: StoreClient;
  readonly #remembered = new Map<string, { revision: Revision; size: number }>();
  #rememberedSize = 0;

  constructor(client: StoreClient) {
    this.#client = client;
  }

  async find(location: RevisionLocation, id: string): Promise<Revision | undefined> {
    const remembered = this.#remembered.get(memoKey(location, id));
    if (remembered) return remembered.revision;
    const stored = await this.#client.find(Secret, { namespace: location.namespace, name: objectName(id) });
    // A revision of an older Coppice may not match the schema; the commit is then planned again.
    const revision = storedRevisionSchema.safeParse(await unpack(stored?.data?.[revisionKey]));
    const contents = contentsSchema.safeParse(await unpack(stored?.data?.[contentsKey]));
    if (!revision.success || !contents.success) return undefined;
    await this.#ensureBundles(location, revision.data.serviceFile.bundles, contents.data);
    await this.#ensureValues(location, revision.data);
    return this.#remember(location, revision.data, contents.data);
  }

  /** The files must exist before the revision that references them. */
  async save(location: RevisionLocation, revision: StoredRevision, given: BundleContents): Promise<Revision> {
    const contents = plainContents(given);
    await this.#ensureBundles(location, revision.serviceFile.bundles, contents);
    await Promise.all(valuesOf(revision).map((values) => this.#isCreated(Secret, valuesObject(location, values))));
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: objectName(revision.id), namespace: location.namespace, labels: location.labels },
      type: 'coppice.dev/version',
      immutable: true,
      data: { [revisionKey]: await pack(revision), [contentsKey]: await pack(contents) },
    };
    if (!(await this.#isCreated(Secret, secret))) {
      // Deletes a revision that does not match the schema, or that a killed operator stored during its first plan.
      await this.#delete(Secret, location, objectName(revision.id));
      await this.#isCreated(Secret, secret);
    }
    return this.#remember(location, revision, contents);
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
      this.#forget(memoKey(location, id));
    }
  }

  /** Deletes what the revision uses, except what is `kept`. */
  async #deleteObjects(location: RevisionLocation, revision: Revision, kept: ReadonlySet<string>): Promise<void> {
    for (const bundle of revision.serviceFile.bundles)
      if (!kept.has(bundle.name)) await this.#delete(typeOf(bundle), location, bundle.name);
    for (const { secret } of valuesOf(revision)) if (!kept.has(secret)) await this.#delete(Secret, location, secret);
  }

  /** As #ensureBundles. */
  async #ensureValues(location: RevisionLocation, revision: StoredRevision): Promise<void> {
    for (const values of valuesOf(revision)) {
      const found = await this.#client.find(Secret, { namespace: location.namespace, name: values.secret });
      if (!found) await this.#isCreated(Secret, valuesObject(location, values));
    }
  }

  /** Completes what a killed operator left: each object is looked up once, and created if it is missing. */
  async #ensureBundles(
    location: RevisionLocation,
    bundles: readonly FileBundle[],
    contents: PlainContents,
  ): Promise<void> {
    for (const bundle of bundles) {
      const found = await this.#client.find(typeOf(bundle), { namespace: location.namespace, name: bundle.name });
      if (found) continue;
      const files = contents[bundle.name];
      if (!files) throw new Error(`the contents of ${bundle.name} are missing`);
      await this.#isCreated(typeOf(bundle), bundleObject(location, bundle, files));
    }
  }

  /** Returns false if an object of that name already exists. */
  async #isCreated(type: typeof Secret | typeof ConfigMap, object: Secret | ConfigMap): Promise<boolean> {
    try {
      await this.#client.create(type, object);
      return true;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return false;
    }
  }

  #delete(type: typeof Secret | typeof ConfigMap, { namespace }: RevisionLocation, name: string): Promise<unknown> {
    return deleteIfThere(this.#client, type, { namespace, name });
  }

  #remember(location: RevisionLocation, stored: StoredRevision, contents: PlainContents): Revision {
    const revision = { ...stored, secrets: secretTexts(stored.serviceFile.bundles, contents) };
    const size = JSON.stringify(revision).length;
    this.#forget(memoKey(location, stored.id));
    this.#remembered.set(memoKey(location, stored.id), { revision, size });
    this.#rememberedSize += size;
    while (this.#rememberedSize > maxRemembered) {
      const [oldest] = this.#remembered.keys();
      if (oldest === undefined) break;
      this.#forget(oldest);
    }
    return revision;
  }

  #forget(key: string): void {
    this.#rememberedSize -= this.#remembered.get(key)?.size ?? 0;
    this.#remembered.delete(key);
  }
}

/** Names of the objects that the revision's pods need. */
function objectNames(revision: Revision): string[] {
  return [...revision.serviceFile.bundles.map(({ name }) => name), ...valuesOf(revision).map(({ secret }) => secret)];
}

function valuesOf({ hidden = {} }: StoredRevision): HiddenValues[] {
  return Object.values(hidden);
}

function typeOf(bundle: FileBundle) {
  return bundle.secret ? Secret : ConfigMap;
}

function plainContents(contents: BundleContents): PlainContents {
  return Object.fromEntries(
    [...contents].map(([name, files]) => [
      name,
      Object.fromEntries([...files].map(([key, bytes]) => [key, bytes.toString('base64')])),
    ]),
  );
}

function secretTexts(bundles: readonly FileBundle[], contents: PlainContents): string[] {
  return bundles
    .filter(({ secret }) => secret)
    .flatMap(({ name }) => Object.values(contents[name] ?? {}))
    .map((base64) => Buffer.from(base64, 'base64').toString('utf8'));
}

/** Compressed JSON: a Secret holds at most 1 MiB, in base64. */
async function pack(value: unknown): Promise<string> {
  return (await promisify(gzip)(JSON.stringify(value))).toString('base64');
}

async function unpack(packed: string | undefined): Promise<unknown> {
  if (packed === undefined) return undefined;
  const bytes = await promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: 16 * 1024 * 1024 });
  return JSON.parse(bytes.toString('utf8'));
}

function objectName(id: string): string {
  return `version-${id}`;
}

function memoKey(location: RevisionLocation, id: string): string {
  return `${location.namespaceUid}/${id}`;
}
