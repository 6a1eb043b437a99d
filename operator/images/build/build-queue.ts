import { FairQueue, type Flow, type FlowLimits, type FlowOwner } from '../../../fair-queue/fair-queue.ts';

/** A build with an ID that is unique in the installation. */
export interface QueuedBuild {
  id: string;
  group: string;
  /** Key of the Environment, which is reconciled when the build can start. */
  environmentKey: string;
}

export interface QueuePosition {
  /** Starts at 1. */
  position: number;
  of: number;
}

export interface BuildQueueOptions {
  limits: FlowLimits;
  ownerOf: (group: string) => FlowOwner;
  /** Returns the builds whose Jobs are running. */
  running: () => readonly Pick<QueuedBuild, 'id' | 'group'>[];
  enqueue: (environmentKey: string) => void;
  now: () => number;
}

interface Entry extends QueuedBuild {
  flow: Flow;
  lastSeen: number;
}

/** A build that has not asked for this time was cancelled, or its environment was deleted. */
const forgetMs = 120_000;

/**
 * Limits concurrent builds. The leader holds the queue in memory: the Jobs show which builds run, and waiting builds
 * ask again.
 */
export class BuildQueue {
  readonly #options: BuildQueueOptions;
  readonly #queue: FairQueue<string>;
  readonly #waiting = new Map<string, Entry>();
  /** Builds that can start and whose Jobs do not exist yet. */
  readonly #admitted = new Map<string, Entry>();
  /** Positions of waiting builds; undefined if something has changed since. */
  #positions: Map<string, number> | undefined;

  constructor(options: BuildQueueOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.limits);
  }

  /** Returns undefined if the build can start, else its position. A waiting build must ask again within two minutes. */
  positionOf(build: QueuedBuild): QueuePosition | undefined {
    const now = this.#options.now();
    this.#forget(now);
    const known = this.#admitted.get(build.id) ?? this.#waiting.get(build.id);
    if (known) known.lastSeen = now;
    else this.#add({ ...build, flow: this.#flowOf(build.group), lastSeen: now });
    if (!this.#admitted.has(build.id) && (!known || !this.#positions)) this.#admit();
    if (this.#admitted.has(build.id)) return undefined;
    this.#positions ??= new Map(this.#queue.order().map((id, index) => [id, index + 1]));
    return { position: this.#positions.get(build.id) ?? 1, of: this.#positions.size };
  }

  /** Returns whether a build of the group could start now. */
  hasRoomFor(group: string): boolean {
    const { limits, ownerOf, running } = this.#options;
    const { total = Infinity, perTenant = Infinity, perGroup = Infinity } = limits;
    const { tenant } = ownerOf(group);
    const started = new Map(running().map((build) => [build.id, ownerOf(build.group)]));
    const admitted = [...this.#admitted.values()].filter(({ id }) => !started.has(id)).map(({ flow }) => flow);
    const executing = [...started.values(), ...admitted];
    return (
      executing.length < total &&
      executing.filter((flow) => flow.tenant === tenant).length < perTenant &&
      executing.filter((flow) => flow.group === group).length < perGroup
    );
  }

  /** Returns whether the build is waiting. */
  isWaiting(id: string): boolean {
    return this.#waiting.has(id);
  }

  /** Removes a build that no longer needs a Job. */
  leave(id: string): void {
    const wasThere = this.#admitted.delete(id) || this.#stopWaiting(id);
    if (wasThere) this.wake();
  }

  /** Requeues the Environments whose builds can start; called when a Job has ended. */
  wake(): void {
    this.#forget(this.#options.now());
    for (const { environmentKey } of this.#admit()) this.#options.enqueue(environmentKey);
  }

  #flowOf(group: string): Flow {
    return { ...this.#options.ownerOf(group), host: '' };
  }

  #add(entry: Entry): void {
    this.#waiting.set(entry.id, entry);
    this.#queue.push(entry.flow, entry.id);
  }

  #stopWaiting(id: string): boolean {
    const entry = this.#waiting.get(id);
    if (!entry) return false;
    this.#queue.remove(entry.flow, id);
    this.#positions = undefined;
    return this.#waiting.delete(id);
  }

  #admit(): Entry[] {
    this.#positions = undefined;
    const running = this.#options.running();
    for (const { id } of running) this.#admitted.delete(id);
    const admitted = [...this.#admitted.values()].map(({ flow }) => flow);
    this.#queue.setExecuting([...running.map(({ group }) => this.#flowOf(group)), ...admitted]);
    const next: Entry[] = [];
    for (let id = this.#queue.take(); id !== undefined; id = this.#queue.take()) {
      const entry = this.#waiting.get(id);
      if (!entry) continue;
      this.#waiting.delete(id);
      this.#admitted.set(id, entry);
      next.push(entry);
    }
    return next;
  }

  #forget(now: number): void {
    const isForgotten = ({ lastSeen }: Entry) => now - lastSeen > forgetMs;
    for (const entry of this.#waiting.values()) if (isForgotten(entry)) this.#stopWaiting(entry.id);
    for (const entry of this.#admitted.values()) {
      if (!isForgotten(entry)) continue;
      this.#admitted.delete(entry.id);
      this.#positions = undefined;
    }
  }
}

/** Untrusted builds wait for ephemeral builders and take no slot of trusted ones. */
export class BuildQueues {
  readonly #trusted: BuildQueue;
  readonly #untrusted: BuildQueue;

  constructor(trusted: BuildQueue, untrusted: BuildQueue) {
    this.#trusted = trusted;
    this.#untrusted = untrusted;
  }

  of(trusted: boolean): BuildQueue {
    return trusted ? this.#trusted : this.#untrusted;
  }

  /** Removes a finished build, whatever its result. */
  leave(id: string): void {
    this.#trusted.leave(id);
    this.#untrusted.leave(id);
  }

  wake(): void {
    this.#trusted.wake();
    this.#untrusted.wake();
  }
}
