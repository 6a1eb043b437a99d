import { createHash, createHmac } from 'node:crypto';
import type { SourcePosition, Problems } from '../problems.ts';
import type { FileBundle } from '../schema.ts';
import { fileLocations } from './file-objects.ts';

export interface BundledFile {
  /** Relative to the mount's target. */
  path: string;
  content: Buffer;
  mode: number;
}

const maxFileKib = 512;
/** Limit for all bundles together, which are stored as objects in the cluster. */
export const MAX_MOUNTED_KIB = 900;
export const MAX_MOUNTED_FILES = 500;

/** The bundles of one service file; equal ones are stored once. */
export class Bundles {
  readonly #problems: Problems;
  readonly #contents: Map<string, Map<string, Buffer>>;
  readonly #bundles = new Map<string, FileBundle>();
  /** Caches hashes of files that are mounted several times. */
  readonly #hashes = new WeakMap<Buffer, string>();
  #bytes = 0;
  #files = 0;
  #isFull = false;

  readonly #hashKey: Uint8Array;

  /** Creates an empty set. Adds the files' contents to `contents`, by object and key. */
  constructor(problems: Problems, contents: Map<string, Map<string, Buffer>>, hashKey: Uint8Array = new Uint8Array()) {
    this.#problems = problems;
    this.#contents = contents;
    this.#hashKey = hashKey;
  }

  /** All bundles, sorted by name. */
  get all(): FileBundle[] {
    return [...this.#bundles.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Whether the limit was exceeded; no more files need to be read then. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Adds a bundle of these files; reports at `at` and returns undefined if they are too large. */
  add(files: readonly BundledFile[], secret: boolean, at: SourcePosition): FileBundle | undefined {
    const large = files.find(({ content }) => isTooLarge(content));
    if (large !== undefined) {
      const what = `${large.path} is larger than ${maxFileKib} KiB`;
      return this.#problems.error(at, `${what}, too large to be mounted: copy it into the image`);
    }
    const keys = keysOf(files);
    const described = files.map(({ path, mode }, index) => ({ key: keys[index] ?? '', path, mode }));
    const hashes = files.map(({ content }) => this.#hashOf(content));
    const name = `files-${createHmac('sha256', this.#hashKey)
      .update(JSON.stringify([secret, described, hashes]))
      .digest('hex')
      .slice(0, 12)}`;
    const known = this.#bundles.get(name);
    if (known !== undefined) return known;
    this.#bytes += files.reduce((sum, { content }) => sum + content.length, 0);
    this.#files += files.length;
    if (this.#bytes > MAX_MOUNTED_KIB * 1024 || this.#files > MAX_MOUNTED_FILES) {
      this.#isFull = true;
      const limit = `${MAX_MOUNTED_FILES} files or ${MAX_MOUNTED_KIB} KiB`;
      return this.#problems.error(at, `with this, more than ${limit} are mounted in total: copy them into an image`);
    }
    const bundle = { name, secret, files: this.#store(files, described, secret) };
    this.#bundles.set(name, bundle);
    return bundle;
  }

  /** Adds the contents of a bundle's files; returns the files with where they are stored. */
  #store(
    files: readonly BundledFile[],
    described: readonly FileBundle['files'][number][],
    secret: boolean,
  ): FileBundle['files'] {
    const hashed = files.map(({ path, content }, index) => {
      return { key: described[index]?.key ?? '', path, bytes: content.length, hash: this.#hashOf(content) };
    });
    const locations = fileLocations(hashed, secret, this.#hashKey);
    return described.map((file, index) => {
      const { object = '', key = '' } = locations[index] ?? {};
      const content = files[index]?.content ?? Buffer.of();
      const stored = this.#contents.get(object) ?? new Map<string, Buffer>();
      this.#contents.set(object, stored.set(key, content));
      return { ...file, stored: { object, key, bytes: content.length } };
    });
  }

  #hashOf(content: Buffer): string {
    const hash = this.#hashes.get(content) ?? createHash('sha256').update(content).digest('hex');
    this.#hashes.set(content, hash);
    return hash;
  }
}

export function isTooLarge(content: Buffer): boolean {
  return content.length > maxFileKib * 1024;
}

/** Returns whether a folder has too many files for a bundle, before they are read. */
export function isTooMany(files: number): boolean {
  return files > MAX_MOUNTED_FILES;
}

/** Returns unique keys for a ConfigMap: the files' paths with other characters replaced. */
function keysOf(files: readonly BundledFile[]): string[] {
  const keys = new Set<string>();
  for (const { path } of files) {
    const plain = path
      .replaceAll(/[^\w.-]/g, '_')
      .replace(/^\.+/, '_')
      .slice(-200);
    let key = plain;
    for (let count = 2; keys.has(key); count++) key = `${plain}.${count}`;
    keys.add(key);
  }
  return [...keys];
}
