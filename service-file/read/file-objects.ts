import { createHash, createHmac } from 'node:crypto';
import type { FileLocation } from '../stored-file.ts';

/** A file of a bundle, with the hash of its content. */
export interface HashedFile {
  /** Unique in its bundle, and valid as a key of a ConfigMap. */
  key: string;
  path: string;
  bytes: number;
  hash: string;
}

/**
 * In bytes. A file of at least this size has an object of its own. Smaller ones of a folder share objects of about this
 * size, because pods start slowly with hundreds of objects.
 */
const sharedBytes = 32 * 1024;
/** Key of a file that has an object of its own. */
const onlyKey = 'content';

/**
 * Returns where each file of a bundle is stored, in the order of the files. Names are hashes of the contents, so an
 * object that is stored already is not written again. A changed file changes only its own object: which small files
 * share one follows from their paths.
 */
export function fileLocations(files: readonly HashedFile[], secret: boolean, hashKey: Uint8Array): FileLocation[] {
  const isShared = ({ bytes }: HashedFile) => files.length > 1 && bytes < sharedBytes;
  const shared = files.filter(isShared);
  const count = objectCount(shared.reduce((sum, { bytes }) => sum + bytes, 0));
  const names = new Map<number, string>();
  for (const [index, together] of Map.groupBy(shared, ({ path }) => indexOf(path, count))) {
    const contents = together.map(({ key, hash }) => [key, hash]);
    names.set(index, objectName(hashKey, [secret, contents]));
  }
  return files.map((file) => {
    if (!isShared(file)) return { object: objectName(hashKey, [secret, file.hash]), key: onlyKey };
    return { object: names.get(indexOf(file.path, count)) ?? '', key: file.key };
  });
}

/** Returns a power of two, which seldom changes with the size: another number moves most files to another object. */
function objectCount(bytes: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, bytes / sharedBytes)));
}

function indexOf(path: string, count: number): number {
  return createHash('sha256').update(path).digest().readUInt32BE(0) % count;
}

function objectName(hashKey: Uint8Array, value: unknown): string {
  return `file-${createHmac('sha256', hashKey).update(JSON.stringify(value)).digest('hex').slice(0, 20)}`;
}
