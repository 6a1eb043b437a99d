import { LRUCache } from 'lru-cache';
import type { SourceAccess } from './git-files.ts';

/** Bytes by the ID of a Git object. */
export interface BlobMemory {
  get: (id: string) => Buffer | undefined;
  set: (id: string, bytes: Buffer) => void;
}

/**
 * Maximum size of a stored blob, enough for service files and Dockerfiles; larger ones are fetched again. A flood of
 * blobs displaces those of others, which only costs them time.
 */
const maxBlobBytes = 64 * 1024;
const maxTotalBytes = 16 * 1024 * 1024;

/**
 * Small files of recently read commits: a file that commits of one origin share is not fetched again. An ID is valid
 * only for the origin that it was read from: another group's tree can name it without having access to the bytes.
 */
export class KnownBlobs {
  readonly #bytes = new LRUCache<string, Buffer>({
    maxSize: maxTotalBytes,
    // Memory of an entry itself, whose blob may be empty.
    sizeCalculation: (bytes, key) => bytes.length + key.length + 128,
  });

  of({ origin, flowOwner }: Pick<SourceAccess, 'origin' | 'flowOwner'>): BlobMemory {
    const keyOf = (id: string) => JSON.stringify([flowOwner?.group ?? '', origin, id]);
    return {
      get: (id) => this.#bytes.get(keyOf(id)),
      set: (id, bytes) => {
        if (bytes.length <= maxBlobBytes) this.#bytes.set(keyOf(id), bytes);
      },
    };
  }
}
