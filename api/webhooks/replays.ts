import { createHash } from 'node:crypto';
import { orUnavailable } from '../http/errors.ts';

/** So long a delivery is known again, in milliseconds: hosts repeat one for some hours at most by themselves. */
export const REPLAY_WINDOW_MS = 24 * 3600_000;

/** So many deliveries of one repository are remembered a minute, by each replica: Redis keeps sessions too. */
export const REMEMBERED_PER_MINUTE = 60;

/** `beyond`: not remembered, so nobody knows whether it is a repetition. */
export type Taking = 'new' | 'repeated' | 'beyond';

/** What this needs of Redis. */
export interface ReplayRedis {
  /** Null when there is a value already. */
  set(
    key: string,
    value: string,
    options: { condition: 'NX'; expiration: { type: 'PX'; value: number } },
  ): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

/** Which deliveries were taken, in Redis for all replicas. */
export class Replays {
  readonly #redis: ReplayRedis;
  readonly #now: () => number;
  #minute = 0;
  /** How many were taken in this minute, by repository. */
  readonly #taken = new Map<string, number>();

  constructor(redis: ReplayRedis, now: () => number) {
    this.#redis = redis;
    this.#now = now;
  }

  /**
   * Takes a delivery by all its ids; it is a repetition when one of them was taken before, within `knownForMs`.
   * @throws Unavailable when Redis cannot be reached: the host sends it again, or the poll finds the change.
   */
  async take(repositoryUid: string, ids: readonly string[], knownForMs = REPLAY_WINDOW_MS): Promise<Taking> {
    if (!this.#hasRoom(repositoryUid)) return 'beyond';
    const options = { condition: 'NX', expiration: { type: 'PX', value: knownForMs } } as const;
    // One after the other: of two that come at once one has the first id, and is the one that counts.
    for (const id of ids) {
      if ((await reach(this.#redis.set(keyOf(repositoryUid, id), '1', options))) === null) return 'repeated';
    }
    return 'new';
  }

  /** Counts a delivery, be it a repetition: whoever can sign could send many of which one id is new. */
  #hasRoom(repositoryUid: string): boolean {
    const minute = Math.floor(this.#now() / 60_000);
    if (minute !== this.#minute) this.#taken.clear();
    this.#minute = minute;
    const taken = this.#taken.get(repositoryUid) ?? 0;
    this.#taken.set(repositoryUid, taken + 1);
    return taken < REMEMBERED_PER_MINUTE;
  }

  /** Gives a delivery back that could not be carried out: its repetition counts. */
  async giveBack(repositoryUid: string, ids: readonly string[]): Promise<void> {
    await reach(Promise.all(ids.map((id) => this.#redis.del(keyOf(repositoryUid, id)))));
  }
}

/** The ids are the host's: of any length, and any characters. */
function keyOf(repositoryUid: string, id: string): string {
  return `coppice:webhook:${repositoryUid}:${createHash('sha256').update(id).digest('base64url')}`;
}

function reach<T>(answer: Promise<T>): Promise<T> {
  return orUnavailable(answer, 'deliveries cannot be recorded now. Try again later');
}
