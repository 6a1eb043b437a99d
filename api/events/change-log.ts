import { compareResourceVersions } from '../../kubernetes/resource-type.ts';
import type { ChangedObject } from './change.ts';
import { newerOf } from './position.ts';

/** A change that clients may have missed. */
export interface LoggedChange {
  object: ChangedObject;
  version: string;
  /** The addresses that gained or lost access by it. */
  emails: ReadonlySet<string>;
}

/** Changed objects that are remembered for clients that reconnect. */
const maxChanges = 5000;
/** Addresses that are remembered for one object: an owner can add and remove any number. */
const maxEmails = 1000;

/** The last change of each recently changed object of one kind, for clients that continue where they stopped. */
export class ChangeLog {
  /** In the order of their last change. */
  readonly #changes = new Map<string, LoggedChange>();
  /** Everything later than this version is in the log; undefined before the first change. */
  #floor: string | undefined;
  #newest = '0';

  /** The version of the newest object. */
  get newest(): string {
    return this.#newest;
  }

  /**
   * Adds a change.
   * @param seen the version up to which the informer has read: what it lists first has not changed
   */
  add(object: ChangedObject, version: string | undefined, seen: string | undefined, emails: readonly string[]): void {
    this.#floor ??= seen;
    this.#newest = newerOf(this.#newest, version);
    // An informer reports objects that are missing in a new list with the version that it knew.
    const at = compareResourceVersions(version, seen) > 0 ? version : seen;
    if (at === undefined || compareResourceVersions(at, this.#floor) <= 0) return;
    const before = this.#changes.get(object.key);
    const change = { object, version: at, emails: new Set([...(before?.emails ?? []), ...emails]) };
    this.#changes.delete(object.key);
    if (change.emails.size > maxEmails) return this.#forget(change);
    this.#changes.set(object.key, change);
    const [oldest] = this.#changes.values();
    if (this.#changes.size > maxChanges && oldest) this.#forget(oldest);
  }

  /** Forgets a change: clients that stopped before it read everything again. */
  #forget({ object, version }: LoggedChange): void {
    this.#changes.delete(object.key);
    if (compareResourceVersions(version, this.#floor) > 0) this.#floor = version;
  }

  /**
   * Returns the changes after this version, each object once; undefined if some of them are not remembered.
   * @param seen as in add()
   */
  after(version: string, seen: string | undefined): LoggedChange[] | undefined {
    if (compareResourceVersions(version, this.#floor ?? seen) < 0) return undefined;
    return [...this.#changes.values()].filter((change) => compareResourceVersions(change.version, version) > 0);
  }
}
