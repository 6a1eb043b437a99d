import { Counts } from '../../fair-queue/counts.ts';
import { FairQueue, type FlowOwner } from '../../fair-queue/fair-queue.ts';

/** Maximum numbers of running and waiting runs, in total and per group. */
export interface RunLimits {
  atWork: Share;
  waiting: Share;
}

export interface Share {
  total: number;
  perGroup: number;
}

/** A run and its owner. */
export interface QueuedRun extends FlowOwner {
  id: string;
}

/**
 * Limits waiting and running runs. The fair queue determines which run is next. A group, or a tenant with many groups,
 * that fills its share of the queue does not block others.
 */
export class RunQueue {
  readonly #limits: RunLimits;
  readonly #queue: FairQueue<QueuedRun>;
  /** Reserved slots by group, including those of waiting runs. */
  readonly #waitingOfGroup = new Counts();
  readonly #waitingOfTenant = new Counts();

  constructor(limits: RunLimits) {
    this.#limits = limits;
    const { total, perGroup } = limits.atWork;
    this.#queue = new FairQueue({ total, perGroup, perTenant: Math.max(perGroup, total - 1) });
  }

  /** Number of waiting runs, including reserved slots. */
  get waiting(): number {
    return this.#waitingOfTenant.total;
  }

  get atWork(): number {
    return this.#queue.executing;
  }

  /**
   * Reserves a slot for a run. Even in a full queue, a tenant with fewer waiting runs than the average gets one: the
   * total is exceeded by at most one slot per waiting tenant.
   * @returns false if the group's share of the queue or the whole queue is full
   */
  reserve({ tenant, group }: FlowOwner): boolean {
    const { total, perGroup } = this.#limits.waiting;
    const ofTenant = this.#waitingOfTenant.of(tenant);
    const tenants = this.#waitingOfTenant.size + (ofTenant === 0 ? 1 : 0);
    const fairShare = Math.max(1, Math.floor(total / tenants));
    if (this.#waitingOfGroup.of(group) >= perGroup) return false;
    if (this.waiting >= total && ofTenant >= fairShare) return false;
    if (ofTenant > 0 && this.waiting >= total + tenants) return false;
    this.#change({ tenant, group }, 1);
    return true;
  }

  /** Releases a reserved slot that is not used. */
  release(owner: FlowOwner): void {
    this.#change(owner, -1);
  }

  /** Adds a run to its reserved slot. */
  push(run: QueuedRun): void {
    this.#queue.push(flowOf(run), run);
  }

  /** Adds a run that a previous process accepted, regardless of the limits. */
  restore(run: QueuedRun): void {
    this.#change(run, 1);
    this.push(run);
  }

  /** Returns the next run that can start; it counts as running until ended(). */
  take(): QueuedRun | undefined {
    const run = this.#queue.take();
    if (run) this.#change(run, -1);
    return run;
  }

  ended(run: QueuedRun): void {
    this.#queue.finished(flowOf(run));
  }

  #change({ tenant, group }: FlowOwner, by: 1 | -1): void {
    this.#waitingOfGroup.add(group, by);
    this.#waitingOfTenant.add(tenant, by);
  }
}

function flowOf({ tenant, group }: FlowOwner) {
  return { tenant, group, host: '' };
}
