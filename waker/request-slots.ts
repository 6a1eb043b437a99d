import { Counts } from '../fair-queue/counts.ts';
import type { KnownEnvironment } from '../waker-protocol/messages.ts';

export interface RequestSlotLimits {
  /** How many requests wait at once. */
  max: number;
  /** How many of them for one environment. */
  maxPerEnvironment: number;
  /** How many of them for the environments of one group. */
  maxPerGroup: number;
  /**
   * How many of them for the environments of all groups of one account; never more than are still free, so that no
   * number of groups takes all slots.
   */
  maxPerTenant: number;
}

/** The environment that a slot counts for, and its tenant. */
export type SlotOwner = Pick<KnownEnvironment, 'key' | 'tenant'>;

/** Limits how many requests of one sort are open at once: each one takes a connection and its memory. */
export class RequestSlots {
  readonly #options: RequestSlotLimits;
  readonly #perEnvironment = new Counts();
  readonly #perGroup = new Counts();
  readonly #perTenant = new Counts();

  constructor(options: RequestSlotLimits) {
    this.#options = options;
  }

  get total(): number {
    return this.#perTenant.total;
  }

  /** The environments that somebody waits for. */
  get keys(): string[] {
    return this.#perEnvironment.names;
  }

  /** Takes a slot for a request. Returns undefined if there is none, or else a function that gives it back. */
  take(environment: SlotOwner): (() => void) | undefined {
    const { max, maxPerEnvironment, maxPerGroup, maxPerTenant } = this.#options;
    const { key } = environment;
    const tenant = tenantOf(environment);
    const isFull =
      this.#perEnvironment.of(key) >= maxPerEnvironment ||
      this.#perGroup.of(groupOf(key)) >= maxPerGroup ||
      this.#perTenant.of(tenant) >= Math.min(maxPerTenant, max - this.total);
    if (isFull) return undefined;
    this.#add(key, tenant, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#add(key, tenant, -1);
      isTaken = false;
    };
  }

  #add(key: string, tenant: string, count: 1 | -1): void {
    this.#perEnvironment.add(key, count);
    this.#perGroup.add(groupOf(key), count);
    this.#perTenant.add(tenant, count);
  }
}

/** Returns the account of an environment; the group if the operator does not know it. */
function tenantOf({ key, tenant }: SlotOwner): string {
  return tenant ?? groupOf(key);
}

/** Returns the namespace of an Environment's key, which is its group's. */
function groupOf(key: string): string {
  return key.split('/')[0] ?? '';
}
