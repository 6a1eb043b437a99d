import { createHash } from 'node:crypto';
import { Counts } from '../../fair-queue/counts.ts';
import { orUnavailable } from '../shared/errors.ts';

/** How long a delivery is remembered, in milliseconds. Hosts repeat a failed delivery for a few hours at most. */
export const REPLAY_WINDOW_MS = 24 * 3600_000;

/**
 * Maximum number of deliveries of one repository that each replica remembers per minute, because Redis also stores
 * sessions.
 */
export const REMEMBERED_PER_MINUTE = 60;

/** Maximum number of IDs of one tenant's deliveries that each replica remembers per day of UTC: about 3 MB in Redis. */
export const REMEMBERED_PER_DAY = 20_000;

const minuteMs = 60_000;
const dayMs = 24 * 3600_000;

/** The source of a delivery. */
export interface DeliverySource {
  repositoryUid: string;
  /** The account that created the group, or the group's namespace if no account did. */
  tenant: string;
}

/** What exceeds a limit is not remembered, so it is unknown whether it is a repetition. */
export type Taking = 'new' | 'repeated' | 'beyondMinute' | 'beyondDay';

/** The Redis commands that replays need. */
export interface ReplayRedis {
  /** Returns null when the key has a value already. */
  set(
    key: string,
    value: string,
    options: { condition: 'NX'; expiration: { type: 'PX'; value: number } },
  ): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

/** Records received deliveries in Redis, for all replicas. */
export class Replays {
  readonly #redis: ReplayRedis;
  readonly #now: () => number;
  /** Deliveries of the current minute, by repository. */
  readonly #deliveries = new Counts();
  /** IDs of the current day, by tenant. */
  readonly #ids = new Counts();
  #minute = 0;
  #day = 0;

  constructor(redis: ReplayRedis, now: () => number) {
    this.#redis = redis;
    this.#now = now;
  }

  /**
   * Records a delivery by all its IDs; it is a repetition when one of them was recorded within `knownForMs`.
   * @throws Unavailable when Redis cannot be reached: the host delivers again, or polling finds the change
   */
  async take(source: DeliverySource, ids: readonly string[], knownForMs = REPLAY_WINDOW_MS): Promise<Taking> {
    const beyond = this.#count(source, ids.length);
    if (beyond) return beyond;
    const options = { condition: 'NX', expiration: { type: 'PX', value: knownForMs } } as const;
    // Sequentially: of two concurrent deliveries, the one that records the first ID counts.
    for (const id of ids) {
      if ((await reach(this.#redis.set(keyOf(source.repositoryUid, id), '1', options))) === null) return 'repeated';
    }
    return 'new';
  }

  /** Counts a delivery, even a repetition: a valid sender could send many deliveries with one new ID each. */
  #count({ repositoryUid, tenant }: DeliverySource, ids: number): Taking | undefined {
    this.#startWindows();
    this.#deliveries.add(repositoryUid);
    if (this.#deliveries.of(repositoryUid) > REMEMBERED_PER_MINUTE) return 'beyondMinute';
    this.#ids.add(tenant, ids);
    return this.#ids.of(tenant) > REMEMBERED_PER_DAY ? 'beyondDay' : undefined;
  }

  #startWindows(): void {
    const minute = Math.floor(this.#now() / minuteMs);
    if (minute !== this.#minute) this.#deliveries.clear();
    this.#minute = minute;
    const day = Math.floor(this.#now() / dayMs);
    if (day !== this.#day) this.#ids.clear();
    this.#day = day;
  }

  /** Forgets a delivery that could not be handled, so that its repetition counts. */
  async giveBack(repositoryUid: string, ids: readonly string[]): Promise<void> {
    await reach(Promise.all(ids.map((id) => this.#redis.del(keyOf(repositoryUid, id)))));
  }
}

/** Returns the Redis key. Hosts choose the IDs, which can have any length and any characters. */
function keyOf(repositoryUid: string, id: string): string {
  return `coppice:webhook:${repositoryUid}:${createHash('sha256').update(id).digest('base64url')}`;
}

function reach<T>(answer: Promise<T>): Promise<T> {
  return orUnavailable(answer, 'deliveries cannot be recorded, because Redis does not respond. Deliver it again later');
}
