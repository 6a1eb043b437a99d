import type { RevisionLocation, Revision } from './revision.ts';
import type { StoredBytes } from './stored-bytes.ts';

/** In characters of JSON; a service file can have a MiB. */
const maxCharacters = 32 * 1024 * 1024;

export interface RememberedRevision {
  revision: Revision;
  stored: StoredBytes;
}

type Location = Pick<RevisionLocation, 'namespaceUid'>;

/** Recently used revisions, so that a reconcile needs no request. The oldest are forgotten above 32 Mi characters. */
export class RevisionMemory {
  readonly #entries = new Map<string, RememberedRevision & { size: number }>();
  #size = 0;

  get(location: Location, id: string): RememberedRevision | undefined {
    return this.#entries.get(keyOf(location, id));
  }

  set(location: Location, remembered: RememberedRevision): RememberedRevision {
    const { id } = remembered.revision;
    this.delete(location, id);
    const size = JSON.stringify(remembered.revision).length;
    this.#entries.set(keyOf(location, id), { ...remembered, size });
    this.#size += size;
    while (this.#size > maxCharacters) {
      const [oldest] = this.#entries.keys();
      if (oldest === undefined) break;
      this.#forget(oldest);
    }
    return remembered;
  }

  delete(location: Location, id: string): void {
    this.#forget(keyOf(location, id));
  }

  #forget(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}

function keyOf({ namespaceUid }: Location, id: string): string {
  return `${namespaceUid}/${id}`;
}
