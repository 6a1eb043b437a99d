import { HostBusyError } from '../errors.ts';

export interface ListedOrigin {
  tenant: string;
  origin: string;
  /** `all`: every branch and tag for a sync; `named`: some refs, for which git requests the same list. */
  refs: 'all' | 'named';
}

/**
 * Processor time of git and the operator for a MiB of git's trace, and what one origin can use at once. Measured for
 * 99,000 refs, 19 MiB: 0.9 to 1.2 s for a sync, 0.4 s for one ref. A sync may be followed by builds of several refs.
 */
const costs = {
  all: { msPerMebibyte: 64, burstMs: 0 },
  named: { msPerMebibyte: 24, burstMs: 5000 },
} as const;
const mebibyte = 1024 * 1024;
/** Share of one processor that lists of one origin can use. */
const originShare = 0.05;
/** Share for all origins of a tenant, and what it can use at once, in milliseconds. */
const tenantShare = 0.2;
const tenantBurstMs = 5000;
/** Nearly all lists are cheaper. They are neither delayed nor remembered. */
const cheapMs = 10;
/** Number of entries above which those that no longer delay anything are removed. */
const maxEntries = 1000;

/**
 * Limits how often refs are listed, in proportion to what the last list cost: a Git host can announce any number of
 * refs, and anybody with access to a repository can request syncs. Held in memory.
 */
export class ListingCosts {
  readonly #now: () => number;
  /** When the lists of each origin and each tenant are back within their share, in Unix milliseconds. */
  readonly #settledAt = new Map<string, number>();

  /** @param now returns Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the milliseconds until the origin can be listed; 0 if it can be listed now. */
  waitMs(listed: ListedOrigin): number {
    const originMs = this.#openMs(originKey(listed)) - costs[listed.refs].burstMs / originShare;
    const tenantMs = this.#openMs(tenantKey(listed)) - tenantBurstMs / tenantShare;
    return Math.max(0, originMs, tenantMs);
  }

  /** @throws HostBusyError if the origin, or all of its tenant, must not be listed yet */
  require(listed: ListedOrigin): void {
    const waitMs = this.waitMs(listed);
    if (waitMs === 0) return;
    const message =
      'the Git host announced so many refs that they are listed less often. Delete branches and tags that are not needed';
    throw new HostBusyError(message, waitMs);
  }

  /** Records the bytes of git's trace of a list, most of which are refs. */
  spend(listed: ListedOrigin, bytes: number): void {
    const costMs = (bytes / mebibyte) * costs[listed.refs].msPerMebibyte;
    if (costMs < cheapMs) return;
    this.#forgetSettled();
    this.#add(originKey(listed), costMs / originShare);
    this.#add(tenantKey(listed), costMs / tenantShare);
  }

  #add(key: string, ms: number): void {
    this.#settledAt.set(key, this.#now() + this.#openMs(key) + ms);
  }

  #openMs(key: string): number {
    return Math.max(0, (this.#settledAt.get(key) ?? 0) - this.#now());
  }

  #forgetSettled(): void {
    if (this.#settledAt.size < maxEntries) return;
    for (const key of this.#settledAt.keys()) if (this.#openMs(key) === 0) this.#settledAt.delete(key);
  }
}

function originKey({ tenant, origin, refs }: ListedOrigin): string {
  return JSON.stringify([tenant, origin, refs]);
}

function tenantKey({ tenant }: ListedOrigin): string {
  return JSON.stringify([tenant]);
}
