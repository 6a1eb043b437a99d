import type { Logger } from 'pino';
import { orUnavailable } from '../shared/errors.ts';

/** Longer than any watch lags behind: by then a replica that cannot see a write has listed again, or is not ready. */
const keptMs = 60_000;

/** The Redis commands that this needs. */
export interface WrittenRedis {
  /** `GT`: a score only increases, whichever replica writes last. */
  zAdd(key: string, member: { score: number; value: string }, options: { comparison: 'GT' }): Promise<unknown>;
  pExpire(key: string, milliseconds: number): Promise<unknown>;
  zRangeWithScores(key: string, start: number, stop: number): Promise<{ value: string; score: number }[]>;
}

/** Stores, for all replicas, up to which resource version of each kind a user has written. */
export class WrittenVersions {
  readonly #redis: WrittenRedis;
  readonly #logger: Pick<Logger, 'warn'>;

  constructor(redis: WrittenRedis, logger: Pick<Logger, 'warn'>) {
    this.#redis = redis;
    this.#logger = logger;
  }

  /**
   * Never fails: the write itself has succeeded. Without it another replica may show the write a few milliseconds
   * later.
   * @param resourceVersion an integer (KEP-5504), which a score represents exactly up to 2^53.
   */
  async note(user: string, kind: string, resourceVersion: string): Promise<void> {
    const member = { score: Number(resourceVersion), value: kind };
    try {
      await Promise.all([
        this.#redis.zAdd(keyOf(user), member, { comparison: 'GT' }),
        this.#redis.pExpire(keyOf(user), keptMs),
      ]);
    } catch (error) {
      this.#logger.warn({ err: error, kind }, 'the version of a written object could not be recorded in Redis');
    }
  }

  /** Returns the versions by kind. @throws Unavailable */
  async of(user: string): Promise<{ kind: string; resourceVersion: string }[]> {
    const answer = this.#redis.zRangeWithScores(keyOf(user), 0, -1);
    const members = await orUnavailable(answer, 'the session store cannot be reached. Try again later');
    return members.map(({ value, score }) => ({ kind: value, resourceVersion: String(score) }));
  }
}

function keyOf(user: string): string {
  return `coppice:written:${user}`;
}
