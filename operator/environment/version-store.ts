import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import type { ClusterClient } from '../../kubernetes/client.ts';
import { isAlreadyExists } from '../../kubernetes/api-error.ts';
import { deleteIfThere } from '../../kubernetes/delete-if-there.ts';
import { ConfigMap, Secret } from '../../kubernetes/resource-type.ts';
import type { BundleContents } from '../../service-file/files.ts';
import type { FileBundle } from '../../service-file/schema.ts';
import { bundleObject } from './bundle-object.ts';
import { storedVersionSchema, type StoredVersion, type Version, type VersionPlace } from './version.ts';

const versionKey = 'version.json.gz';
const contentsKey = 'contents.json.gz';
/** Characters of JSON: a service file may stand for a MiB. */
const mostRemembered = 32 * 1024 * 1024;
const contentsSchema = z.record(z.string(), z.record(z.string(), z.base64()));
/** Base64, by bundle and key. */
type PlainContents = z.infer<typeof contentsSchema>;

type StoreClient = Pick<ClusterClient, 'create' | 'delete' | 'find'>;

/**
 * Keeps what was planned in the environment's namespace: each version as an immutable Secret, because variables are
 * filled in, and the files that it mounts as ConfigMaps and Secrets of their own.
 */
export class VersionStore {
  readonly #client: StoreClient;
  readonly #remembered = new Map<string, { version: Version; size: number }>();
  #rememberedSize = 0;

  constructor(client: StoreClient) {
    this.#client = client;
  }

  async find(place: VersionPlace, id: string): Promise<Version | undefined> {
    const remembered = this.#remembered.get(memoKey(place, id));
    if (remembered) return remembered.version;
    const stored = await this.#client.find(Secret, { namespace: place.namespace, name: objectName(id) });
    // What an older Coppice has written may not fit: then the commit is planned anew.
    const version = storedVersionSchema.safeParse(await unpack(stored?.data?.[versionKey]));
    const contents = contentsSchema.safeParse(await unpack(stored?.data?.[contentsKey]));
    if (!version.success || !contents.success) return undefined;
    await this.#ensureBundles(place, version.data.serviceFile.bundles, contents.data);
    return this.#remember(place, version.data, contents.data);
  }

  /** The files are there before the version that names them is. */
  async save(place: VersionPlace, version: StoredVersion, given: BundleContents): Promise<Version> {
    const contents = plainContents(given);
    await this.#ensureBundles(place, version.serviceFile.bundles, contents);
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: objectName(version.id), namespace: place.namespace, labels: place.labels },
      type: 'coppice.dev/version',
      immutable: true,
      data: { [versionKey]: await pack(version), [contentsKey]: await pack(contents) },
    };
    if (!(await this.#isCreated(Secret, secret))) {
      // One that does not fit; or one that nobody looked for, of a first plan whose operator was killed.
      await this.#delete(Secret, place, objectName(version.id));
      await this.#isCreated(Secret, secret);
    }
    return this.#remember(place, version, contents);
  }

  /** Removes what was planned and is not wanted any more, with the files that none of the `kept` versions mounts. */
  async retire(place: VersionPlace, ids: readonly string[], kept: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const needed = await Promise.all(kept.map((id) => this.find(place, id)));
    const names = new Set(needed.flatMap((version) => version?.serviceFile.bundles.map(({ name }) => name) ?? []));
    for (const id of ids) {
      const version = await this.find(place, id);
      // Of a version that cannot be read nobody knows what it mounts.
      const bundles = needed.includes(undefined) ? [] : (version?.serviceFile.bundles ?? []);
      for (const bundle of bundles) if (!names.has(bundle.name)) await this.#delete(typeOf(bundle), place, bundle.name);
      await this.#delete(Secret, place, objectName(id));
      this.#forget(memoKey(place, id));
    }
  }

  /** What a killed operator left undone is made up for: each is looked for once, and made when it is not there. */
  async #ensureBundles(place: VersionPlace, bundles: readonly FileBundle[], contents: PlainContents): Promise<void> {
    for (const bundle of bundles) {
      const found = await this.#client.find(typeOf(bundle), { namespace: place.namespace, name: bundle.name });
      if (found) continue;
      const files = contents[bundle.name];
      if (!files) throw new Error(`the contents of ${bundle.name} are missing`);
      await this.#isCreated(typeOf(bundle), bundleObject(place, bundle, files));
    }
  }

  /** False when an object of that name is there already. */
  async #isCreated(type: typeof Secret | typeof ConfigMap, object: Secret | ConfigMap): Promise<boolean> {
    try {
      await this.#client.create(type, object);
      return true;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return false;
    }
  }

  #delete(type: typeof Secret | typeof ConfigMap, { namespace }: VersionPlace, name: string): Promise<unknown> {
    return deleteIfThere(this.#client, type, { namespace, name });
  }

  #remember(place: VersionPlace, stored: StoredVersion, contents: PlainContents): Version {
    const version = { ...stored, secrets: secretTexts(stored.serviceFile.bundles, contents) };
    const size = JSON.stringify(version).length;
    this.#forget(memoKey(place, stored.id));
    this.#remembered.set(memoKey(place, stored.id), { version, size });
    this.#rememberedSize += size;
    while (this.#rememberedSize > mostRemembered) {
      const [oldest] = this.#remembered.keys();
      if (oldest === undefined) break;
      this.#forget(oldest);
    }
    return version;
  }

  #forget(key: string): void {
    this.#rememberedSize -= this.#remembered.get(key)?.size ?? 0;
    this.#remembered.delete(key);
  }
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

/** JSON, packed because a Secret holds 1 MiB at most, in base64. */
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

function memoKey(place: VersionPlace, id: string): string {
  return `${place.namespaceUid}/${id}`;
}
