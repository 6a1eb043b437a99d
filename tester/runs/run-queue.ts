import { FairQueue, type FlowOwner } from '../../fair-queue/fair-queue.ts';

/** How many runs may be at work, and how many may wait, of all groups together and of each. */
export interface RunLimits {
  atWork: Share;
  waiting: Share;
}

export interface Share {
  total: number;
  perGroup: number;
}

/** A run and whose it is. */
export interface QueuedRun extends FlowOwner {
  id: string;
}

/**
 * Bounds the runs that wait and that are at work. The fair queue decides which is next; a group, and a tenant with many
 * groups, that fills its share of the queue keeps nobody else's run out of it.
 */
export class RunQueue {
  readonly #limits: RunLimits;
  readonly #queue: FairQueue<QueuedRun>;
  /** Reserved slots, those of waiting runs included. */
  readonly #waitingOfGroup = new Map<string, number>();
  readonly #waitingOfTenant = new Map<string, number>();
  #waiting = 0;

  constructor(limits: RunLimits) {
    this.#limits = limits;
    const { total, perGroup } = limits.atWork;
    this.#queue = new FairQueue({ total, perGroup, perTenant: Math.max(perGroup, total - 1) });
  }

  /** Returns the number of runs that wait, or are about to. */
  get waiting(): number {
    return this.#waiting;
  }

  get atWork(): number {
    return this.#queue.executing;
  }

  /**
   * Reserves a slot for a run that is about to be pushed. In a full queue a tenant that has less waiting than others on
   * average still gets one: one slot for each waiting tenant is beyond the total.
   * @returns false where the group's share of the queue, or the queue, is full.
   */
  reserve({ tenant, group }: FlowOwner): boolean {
    const { total, perGroup } = this.#limits.waiting;
    const ofTenant = this.#waitingOfTenant.get(tenant) ?? 0;
    const tenants = this.#waitingOfTenant.size + (ofTenant === 0 ? 1 : 0);
    const fairShare = Math.max(1, Math.floor(total / tenants));
    if ((this.#waitingOfGroup.get(group) ?? 0) >= perGroup) return false;
    if (this.#waiting >= total && ofTenant >= fairShare) return false;
    if (ofTenant > 0 && this.#waiting >= total + tenants) return false;
    this.#change({ tenant, group }, 1);
    return true;
  }

  /** Gives back a slot that nothing was pushed for. */
  release(owner: FlowOwner): void {
    this.#change(owner, -1);
  }

  /** Adds a run that a slot was reserved for. */
  push(run: QueuedRun): void {
    this.#queue.push(flowOf(run), run);
  }

  /** Adds a run that was accepted by a former process, whatever the limits are now. */
  restore(run: QueuedRun): void {
    this.#change(run, 1);
    this.push(run);
  }

  /** Returns the next run that can start. It is at work until ended(). */
  take(): QueuedRun | undefined {
    const run = this.#queue.take();
    if (run) this.#change(run, -1);
    return run;
  }

  ended(run: QueuedRun): void {
    this.#queue.finished(flowOf(run));
  }

  #change({ tenant, group }: FlowOwner, by: 1 | -1): void {
    this.#waiting += by;
    add(this.#waitingOfGroup, group, by);
    add(this.#waitingOfTenant, tenant, by);
  }
}

function flowOf({ tenant, group }: FlowOwner) {
  return { tenant, group, host: '' };
}

function add(counts: Map<string, number>, name: string, by: 1 | -1): void {
  const count = (counts.get(name) ?? 0) + by;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
