import type { Logger } from 'pino';
import { isAlreadyExists, isConflict, isNotFound } from './api-error.ts';
import { sleep, steadyClock, systemClock, type Clock } from './clock.ts';
import type { ClusterClient } from './client.ts';
import { Lease } from './resource-type.ts';

export interface LeaderElectionOptions {
  client: Pick<ClusterClient, 'find' | 'create' | 'patch'>;
  namespace: string;
  /** Name of the Lease. */
  name: string;
  /** Unique identity of this candidate: the pod's name and a random part. */
  identity: string;
  logger: Logger;
  /**
   * Called once when leadership is lost, but not by stop(): the process must end immediately, because another one
   * leads.
   */
  onLost: (reason: Error) => void;
  /** Called for a metric. */
  onChange?: (leads: boolean) => void;
  /** How long candidates wait after they last saw the Lease renewed before they acquire it. Default 15 s. */
  leaseDurationMs?: number;
  /** How long the leader tries to renew before it gives up. Default 10 s. */
  renewDeadlineMs?: number;
  /** Delay between attempts. Default 2 s. */
  retryPeriodMs?: number;
  /** Used for all waits and comparisons. */
  clock?: Clock;
  /** Used for the times in the Lease, which are only informative. */
  wallClock?: Pick<Clock, 'now'>;
  random?: () => number;
}

/**
 * As in client-go: candidates' delays are extended randomly by up to this factor, so that they do not collide every
 * time.
 */
const jitterFactor = 1.2;

/** Returns the time that the next request of an attempt has. */
type TimeLeft = () => { timeoutMs: number };

/**
 * Leader election with a Lease, as in client-go's tools/leaderelection: a candidate acquires the Lease when it has not
 * seen it change for its duration by its own clock, so clocks can differ or be set. A leader that cannot renew gives up
 * before others can take over.
 */
export class LeaderElector {
  readonly #options: LeaderElectionOptions;
  readonly #clock: Clock;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  readonly #stopping = new AbortController();
  #observed: { lease: Lease; at: number } | undefined;
  #leads = false;
  /** When a leader that has not renewed gives up, by the clock. */
  #deadline = 0;
  #renewing: Promise<void> | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? steadyClock;
    this.#leaseDurationMs = options.leaseDurationMs ?? 15_000;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? 10_000;
    this.#retryPeriodMs = options.retryPeriodMs ?? 2000;
    if (this.#leaseDurationMs <= this.#renewDeadlineMs || this.#renewDeadlineMs <= this.#retryPeriodMs * jitterFactor) {
      throw new RangeError(
        'leader election requires leaseDuration > renewDeadline > 1.2 × retryPeriod. Change one of them',
      );
    }
  }

  isLeader(): boolean {
    return this.#leads;
  }

  /** Resolves with true when this candidate leads, and renews from then on; with false when stop() was called first. */
  async acquire(): Promise<boolean> {
    const { logger, name, identity, random = Math.random } = this.#options;
    const stopped = () => this.#stopping.signal.aborted;
    logger.info({ lease: name, identity }, 'waiting to lead');
    while (!stopped() && !(await this.#try(this.#renewDeadlineMs))) {
      await sleep(this.#clock, this.#retryPeriodMs * (1 + random() * jitterFactor), this.#stopping.signal);
    }
    if (stopped()) {
      await this.#release();
      return false;
    }
    logger.info({ lease: name, identity }, 'leading');
    this.#setLeads(true);
    this.#renewing = this.#renew();
    return true;
  }

  /**
   * Stops renewing, and releases the Lease so that another candidate need not wait. Call it when all work has ended.
   */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#renewing;
    if (!this.#leads) return;
    this.#setLeads(false);
    await this.#release();
  }

  async #renew(): Promise<void> {
    const { signal } = this.#stopping;
    let attemptAt = this.#deadline - this.#renewDeadlineMs;
    for (;;) {
      // The period counts from the start of the attempt: the deadline does too, and requests can take seconds.
      await sleep(this.#clock, Math.max(attemptAt + this.#retryPeriodMs - this.#clock.now(), 0), signal);
      if (signal.aborted) return;
      attemptAt = this.#clock.now();
      const leftMs = this.#deadline - this.#clock.now();
      if (leftMs > 0 && (await this.#try(leftMs))) continue;
      if (this.#clock.now() >= this.#deadline || this.#heldByOther()) return this.#lose();
    }
  }

  #lose(): void {
    const { name, onLost } = this.#options;
    this.#setLeads(false);
    onLost(
      new Error(
        `the Lease ${name} could not be renewed within ${this.#renewDeadlineMs / 1000} s or was taken. This process stops, so that another one can lead`,
      ),
    );
  }

  #heldByOther(): boolean {
    const holder = this.#observed?.lease.spec?.holderIdentity;
    return Boolean(holder) && holder !== this.#options.identity;
  }

  /** Makes one attempt to acquire or renew the Lease, whose requests share the time; never rejects. */
  async #try(timeoutMs: number): Promise<boolean> {
    const end = this.#clock.now() + timeoutMs;
    const timeLeft = () => ({ timeoutMs: Math.max(end - this.#clock.now(), 1) });
    try {
      return await this.#acquireOrRenew(timeLeft);
    } catch (error) {
      const { logger, name } = this.#options;
      const lost = isConflict(error) || isAlreadyExists(error);
      logger[lost ? 'debug' : 'warn']({ err: error, lease: name }, 'the Lease could not be taken or renewed');
      return false;
    }
  }

  async #acquireOrRenew(timeLeft: TimeLeft): Promise<boolean> {
    if (this.#leads && (await this.#renewObserved(timeLeft))) return true;
    const { client, namespace, name, identity } = this.#options;
    const held = await client.find(Lease, { namespace, name }, timeLeft());
    if (!held) {
      const metadata = { namespace, name };
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata,
        spec: this.#specAfter(undefined),
      };
      await this.#hold(() => client.create(Lease, lease, timeLeft()));
      return true;
    }
    if (held.metadata.resourceVersion !== this.#observed?.lease.metadata.resourceVersion) this.#observe(held);
    const holder = held.spec?.holderIdentity;
    if (holder && holder !== identity && !this.#expired(held)) return false;
    await this.#hold(() => this.#write(this.#specAfter(held), held, timeLeft()));
    return true;
  }

  /**
   * Renews the Lease as this leader has last seen it, with one request instead of two, as client-go does. Returns false
   * if somebody else has changed it.
   */
  async #renewObserved(timeLeft: TimeLeft): Promise<boolean> {
    const held = this.#observed?.lease;
    if (held?.spec?.holderIdentity !== this.#options.identity) return false;
    try {
      await this.#hold(() => this.#write(this.#specAfter(held), held, timeLeft()));
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }

  /** Returns the spec with which this candidate holds the Lease from now on. */
  #specAfter(held: Lease | undefined): NonNullable<Lease['spec']> {
    const { identity, wallClock = systemClock } = this.#options;
    const now = new Date(wallClock.now()).toISOString().replace('Z', '000Z');
    const isOwn = held?.spec?.holderIdentity === identity;
    const transitions = held?.spec?.leaseTransitions ?? 0;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.max(Math.round(this.#leaseDurationMs / 1000), 1),
      acquireTime: (isOwn ? held.spec?.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: held === undefined || isOwn ? transitions : transitions + 1,
    };
  }

  #expired(lease: Lease): boolean {
    const seconds = lease.spec?.leaseDurationSeconds;
    const durationMs = seconds ? seconds * 1000 : this.#leaseDurationMs;
    return this.#observed !== undefined && this.#observed.at + durationMs <= this.#clock.now();
  }

  /** Takes or renews the Lease. The deadline counts from before the request: the others' wait can start when it is sent. */
  async #hold(write: () => Promise<Lease>): Promise<void> {
    const sentAt = this.#clock.now();
    this.#observe(await write());
    this.#deadline = sentAt + this.#renewDeadlineMs;
  }

  #observe(lease: Lease): void {
    this.#observed = { lease, at: this.#clock.now() };
  }

  #write(spec: Lease['spec'], held: Lease, timeout: { timeoutMs: number }): Promise<Lease> {
    const { client, namespace, name } = this.#options;
    const { resourceVersion } = held.metadata;
    return client.patch(Lease, { namespace, name }, { spec }, { ...timeout, resourceVersion });
  }

  /** Sets an empty holder and a duration of 1 s, as client-go does, so that the next candidate acquires the Lease. */
  async #release(): Promise<void> {
    const lease = this.#observed?.lease;
    if (!lease || lease.spec?.holderIdentity !== this.#options.identity) return;
    const { logger, name } = this.#options;
    try {
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 };
      await this.#write(spec, lease, { timeoutMs: this.#renewDeadlineMs });
      logger.info({ lease: name }, 'released the Lease');
    } catch (error) {
      logger.warn({ err: error, lease: name }, 'the Lease could not be released; it expires');
    }
  }

  #setLeads(leads: boolean): void {
    this.#leads = leads;
    this.#options.onChange?.(leads);
  }
}
