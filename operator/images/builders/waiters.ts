import { environmentKey, type BuildIdentity } from './identity.ts';

interface Waiter {
  environmentKey: string;
  since: Date;
}

/** Records which builds wait for which builder or queue, and since when. */
export class Waiters {
  readonly #byName = new Map<string, Map<string, Waiter>>();

  /** Adds a build; the time of one that already waits is kept. */
  add(name: string, group: string, build: BuildIdentity, now: Date): void {
    const waiters = this.#byName.get(name) ?? new Map<string, Waiter>();
    this.#byName.set(name, waiters);
    const id = idOf(build);
    if (!waiters.has(id)) waiters.set(id, { environmentKey: environmentKey(group, build), since: now });
  }

  /** Returns since when the build waits; undefined if it does not. */
  since(name: string, build: BuildIdentity): Date | undefined {
    return this.#byName.get(name)?.get(idOf(build))?.since;
  }

  remove(name: string, build: BuildIdentity): void {
    const waiters = this.#byName.get(name);
    waiters?.delete(idOf(build));
    if (waiters?.size === 0) this.#byName.delete(name);
  }

  /** Removes all builds that wait for this; returns the keys of their Environments. */
  take(name: string): string[] {
    const keys = [...(this.#byName.get(name)?.values() ?? [])].map((waiter) => waiter.environmentKey);
    this.#byName.delete(name);
    return keys;
  }
}

function idOf({ environmentUid, number }: BuildIdentity): string {
  return `${environmentUid}/${number}`;
}
