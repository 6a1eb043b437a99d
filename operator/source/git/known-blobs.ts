import { LRUCache } from 'lru-cache';
import type { SourceAccess } from './git-files.ts';

/** Bytes by the address of a Git object. */
export interface BlobMemory {
  get: (id: string) => Buffer | undefined;
  set: (id: string, bytes: Buffer) => void;
}

/** A service file, a Dockerfile; what is larger is read anew. Whoever brings many displaces the others', which costs time alone. */
const MAX_BLOB_BYTES = 64 * 1024;
const MAX_TOTAL_BYTES = 16 * 1024 * 1024;

/**
 * Small files of the commits that were read last: what a commit shares with another of the same origin is not asked for
 * again. An id counts only where it was read: another group's tree may name it, and has no right to the bytes.
 */
export class KnownBlobs {
  readonly #bytes = new LRUCache<string, Buffer>({
    maxSize: MAX_TOTAL_BYTES,
    // What it takes to hold an entry, which may be empty.
    sizeCalculation: (bytes, key) => bytes.length + key.length + 128,
  });

  of({ origin, flowOwner }: Pick<SourceAccess, 'origin' | 'flowOwner'>): BlobMemory {
    const keyOf = (id: string) => JSON.stringify([flowOwner?.group ?? '', origin, id]);
    return {
      get: (id) => this.#bytes.get(keyOf(id)),
      set: (id, bytes) => {
        if (bytes.length <= MAX_BLOB_BYTES) this.#bytes.set(keyOf(id), bytes);
      },
    };
  }
}
