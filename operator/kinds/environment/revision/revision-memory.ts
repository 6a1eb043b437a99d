import { FairRoom } from '../../../../fair-queue/fair-room.ts';
import type { RevisionLocation, Revision } from './revision.ts';
import type { StoredBytes } from './stored-bytes.ts';

/** In characters of JSON; a service file can have a MiB. */
const maxCharacters = 32 * 1024 * 1024;

export interface RememberedRevision {
  revision: Revision;
  stored: StoredBytes;
}

type Location = Pick<RevisionLocation, 'namespaceUid'>;

/**
 * Recently used revisions, so that a reconcile needs no request. Above 32 Mi characters those of the tenant with most
 * are forgotten, the least recently used first.
 */
export class RevisionMemory {
  readonly #entries = new Map<string, RememberedRevision>();
  readonly #room = new FairRoom(maxCharacters);

  get(location: Location, id: string): RememberedRevision | undefined {
    const key = keyOf(location, id);
    this.#room.touch(key);
    return this.#entries.get(key);
  }

  set(location: Location, remembered: RememberedRevision, tenant: string): RememberedRevision {
    const { revision } = remembered;
    const key = keyOf(location, revision.id);
    this.#entries.set(key, remembered);
    for (const gone of this.#room.add(tenant, key, JSON.stringify(revision).length)) this.#entries.delete(gone);
    return remembered;
  }

  delete(location: Location, id: string): void {
    const key = keyOf(location, id);
    this.#room.delete(key);
    this.#entries.delete(key);
  }
}

function keyOf({ namespaceUid }: Location, id: string): string {
  return `${namespaceUid}/${id}`;
}
