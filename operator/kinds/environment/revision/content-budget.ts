import type { Environment } from '../../../../crds/environment.ts';
import type { Group } from '../../../../crds/group.ts';
import { groupNamespace } from '../../../../crds/ids.ts';
import type { Informer } from '../../../../kubernetes/informer.ts';
import { keyOf } from '../../../../kubernetes/resource-type.ts';
import { Stalled, Waiting } from '../../../shared/errors.ts';
import type { Flows } from '../../../source/hosts/flows.ts';

/** Limits on what the operator writes for the environments of one tenant; chart values `operator.limits`. */
export interface ContentLimits {
  writtenMiBPerMinute: number;
  writtenMiBPerHour: number;
  storedMiBPerAccount: number;
}

export interface ContentBudgetOptions {
  groups: Pick<Informer<Group>, 'list'>;
  environments: Pick<Informer<Environment>, 'get' | 'byIndex'>;
  flows: Pick<Flows, 'ofGroup'>;
  limits: ContentLimits;
  now: () => Date;
}

/** The budget for one revision of an environment. */
export interface RevisionBudget {
  /** Reserves bytes to be stored. @throws Stalled when the tenant would store more than its limit */
  requireRoom(addedBytes: number): void;
  /** Counts bytes that were written. */
  spend(bytes: number): void;
}

interface Reservation {
  bytes: number;
  /** What the status recorded at the time; the reservation ends when it changes. */
  recorded: number | undefined;
  until: number;
}

const mebibyte = 1024 * 1024;
/** What a write counts at least: API server, controllers and watchers handle a small object like a larger one. */
const minWrittenBytes = 8 * 1024;
const windows = [
  { name: 'minute', ms: 60_000, limitOf: (limits: ContentLimits) => limits.writtenMiBPerMinute },
  { name: 'hour', ms: 3_600_000, limitOf: (limits: ContentLimits) => limits.writtenMiBPerHour },
] as const;
/** Longer than the rest of a reconcile, which records the bytes in the status. */
const reservedMs = 60_000;

/**
 * Limits the bytes that the operator writes and stores for the environments of each tenant. All tenants share
 * etcd, which keeps every revision of an object until compaction.
 * Writes that are under way are only counted: new commits wait. Stored bytes are summed from the status of the
 * Environments, so that they outlive the operator and cost no request; written bytes are counted in memory.
 */
export class ContentBudget {
  readonly #options: ContentBudgetOptions;
  /** Written bytes by tenant, of the current minute and hour. */
  readonly #written = windows.map(() => ({ number: 0, bytes: new Map<string, number>() }));
  /** By Environment: what is being stored and its status does not record yet. */
  readonly #reserved = new Map<string, Reservation>();

  constructor(options: ContentBudgetOptions) {
    this.#options = options;
  }

  /** Checks that commits of the group can be written. @throws Waiting when the tenant has spent its budget */
  requireWrites(group: string): void {
    const { flows, limits } = this.#options;
    const { tenant } = flows.ofGroup(group);
    const spent = this.#spentBy(tenant);
    if (!spent) return;
    const { name, limitOf, leftMs } = spent;
    throw new Waiting(
      'TooManyWrittenBytes',
      `the environments of ${described(tenant)} wrote ${limitOf(limits)} MiB to the cluster within one ${name}, which ` +
        `is the limit. The next commit is read when the ${name} is over. Mount fewer or smaller files, or build, rebuild ` +
        'and wake fewer environments at once',
      leftMs,
    );
  }

  /** Returns the window in which the tenant has spent its budget, and how long that lasts. */
  #spentBy(tenant: string) {
    const { limits, now } = this.#options;
    const index = windows.findIndex(
      ({ limitOf }, at) => (this.#writtenIn(at).get(tenant) ?? 0) >= limitOf(limits) * mebibyte,
    );
    const window = windows[index];
    return window && { ...window, leftMs: window.ms - (now().getTime() % window.ms) };
  }

  /** Counts a write for an environment of the tenant. */
  count(tenant: string, object: unknown): void {
    this.#spend(tenant, Buffer.byteLength(JSON.stringify(object)));
  }

  /** Returns the budget for a revision of the Environment with this key. */
  of(group: string, environment: string): RevisionBudget {
    const { tenant } = this.#options.flows.ofGroup(group);
    return {
      requireRoom: (addedBytes) => this.#requireRoom(tenant, environment, addedBytes),
      spend: (bytes) => this.#spend(tenant, bytes),
    };
  }

  #spend(tenant: string, bytes: number): void {
    for (const index of windows.keys()) {
      const written = this.#writtenIn(index);
      written.set(tenant, (written.get(tenant) ?? 0) + Math.max(bytes, minWrittenBytes));
    }
  }

  #requireRoom(tenant: string, environment: string, addedBytes: number): void {
    const { limits, environments, now } = this.#options;
    const stored = this.#storedBy(tenant);
    const limit = limits.storedMiBPerAccount * mebibyte;
    if (stored + addedBytes > limit) {
      throw new Stalled(
        'TooManyStoredBytes',
        `the environments of ${described(tenant)} store ${inMebibytes(stored)} MiB of service files and mounted files in ` +
          `the cluster, and this commit adds ${inMebibytes(addedBytes)} MiB to the limit of ${limits.storedMiBPerAccount} MiB. ` +
          'Mount fewer or smaller files, or delete the contents of environments, then request a build; or ask an ' +
          'administrator to raise the limit',
      );
    }
    const before = this.#reservedFor(environment);
    this.#forgetEnded();
    this.#reserved.set(environment, {
      bytes: before + addedBytes,
      recorded: environments.get(environment)?.status?.storedBytes,
      until: now().getTime() + reservedMs,
    });
  }

  #storedBy(tenant: string): number {
    const { groups, environments, flows } = this.#options;
    return groups
      .list()
      .filter(({ metadata }) => flows.ofGroup(metadata.name).tenant === tenant)
      .flatMap(({ metadata }) => environments.byIndex('namespace', groupNamespace(metadata.name)))
      .reduce((sum, one) => sum + (one.status?.storedBytes ?? 0) + this.#reservedFor(keyOf(one)), 0);
  }

  #reservedFor(environment: string): number {
    const reservation = this.#reserved.get(environment);
    if (!reservation) return 0;
    const recorded = this.#options.environments.get(environment)?.status?.storedBytes;
    if (recorded === reservation.recorded && this.#options.now().getTime() < reservation.until)
      return reservation.bytes;
    this.#reserved.delete(environment);
    return 0;
  }

  /** Forgets the reservations that have ended, since nobody asks about those of deleted Environments. */
  #forgetEnded(): void {
    for (const environment of this.#reserved.keys()) this.#reservedFor(environment);
  }

  #writtenIn(index: number): Map<string, number> {
    const window = this.#written[index];
    const ms = windows[index]?.ms ?? 1;
    if (!window) return new Map();
    const number = Math.floor(this.#options.now().getTime() / ms);
    if (window.number !== number) Object.assign(window, { number, bytes: new Map() });
    return window.bytes;
  }
}

/** The tenants of `Flows`: `account ID` or `group NAME`. */
function described(tenant: string): string {
  return tenant.startsWith('group ') ? `the ${tenant}` : 'all groups of the account that created this one';
}

function inMebibytes(bytes: number): string {
  return (bytes / mebibyte).toFixed(1);
}
