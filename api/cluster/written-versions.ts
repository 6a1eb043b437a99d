import type { Logger } from 'pino';
import { orUnavailable } from '../http/errors.ts';

/** Longer than any watch stays behind: by then a replica that cannot see a write has listed anew, or is not ready. */
const keptMs = 60_000;

/** What the versions need of Redis. */
export interface WrittenRedis {
  /** `GT`: a score only ever rises, whichever of two replicas comes last. */
  zAdd(key: string, member: { score: number; value: string }, options: { comparison: 'GT' }): Promise<unknown>;
  pExpire(key: string, milliseconds: number): Promise<unknown>;
  zRangeWithScores(key: string, start: number, stop: number): Promise<{ value: string; score: number }[]>;
}

/** Up to which resource version of each kind a user has written, for all replicas. */
export class WrittenVersions {
  readonly #redis: WrittenRedis;
  readonly #logger: Pick<Logger, 'warn'>;

  constructor(redis: WrittenRedis, logger: Pick<Logger, 'warn'>) {
    this.#redis = redis;
    this.#logger = logger;
  }

  /**
   * Does not fail: what was written is written. Then another replica may show it some milliseconds later.
   * @param resourceVersion an integer (KEP-5504), which a score keeps exactly up to 2^53: etcd counts writes.
   */
  async note(user: string, kind: string, resourceVersion: string): Promise<void> {
    const member = { score: Number(resourceVersion), value: kind };
    try {
      await Promise.all([
        this.#redis.zAdd(keyOf(user), member, { comparison: 'GT' }),
        this.#redis.pExpire(keyOf(user), keptMs),
      ]);
    } catch (error) {
      this.#logger.warn({ err: error, kind }, 'what a user wrote could not be noted in Redis');
    }
  }

  /** By kind. @throws Unavailable */
  async of(user: string): Promise<{ kind: string; resourceVersion: string }[]> {
    const answer = this.#redis.zRangeWithScores(keyOf(user), 0, -1);
    const members = await orUnavailable(answer, 'the session store cannot be reached; try again later');
    return members.map(({ value, score }) => ({ kind: value, resourceVersion: String(score) }));
  }
}

function keyOf(user: string): string {
  return `coppice:written:${user}`;
}
