import { DROP_LOG, ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL } from './ended-logs.ts';
import { Script, type ScriptRedis } from './script.ts';

/** Limits for the logs of finished builds, each of which also expires a week after its last line. */
export interface RetentionBudget {
  /** Maximum number of logs of one environment. */
  buildsPerEnvironment: number;
  /** Maximum stored size of all logs together; the oldest are dropped first. */
  totalBytes: number;
}

const weekMs = 7 * 24 * 3600 * 1000;

/**
 * Counts an ended log and enforces the budget. KEYS: index, sizes and total of ended logs. ARGV: environment's UID,
 * number of the ended build, current time, time before which logs have expired, builds per environment, total bytes.
 */
const endedScript = new Script(`${DROP_LOG}
local log = ARGV[1] .. '/' .. ARGV[2]
local size = tonumber(redis.call('HGET', 'build-log:{' .. log .. '}:state', 'stored') or '0')
redis.call('DECRBY', KEYS[3], redis.call('HGET', KEYS[2], log) or '0')
redis.call('INCRBY', KEYS[3], size)
redis.call('HSET', KEYS[2], log, size)
redis.call('ZADD', KEYS[1], ARGV[3], log)
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[4], 'LIMIT', 0, 1000)) do drop(old, 'UNLINK') end
local newestOld = tonumber(ARGV[2]) - tonumber(ARGV[5])
for number = newestOld, math.max(1, newestOld - 50), -1 do drop(ARGV[1] .. '/' .. number, 'UNLINK') end
while tonumber(redis.call('GET', KEYS[3]) or '0') > tonumber(ARGV[6]) do
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if not oldest or oldest == log then break end
  drop(oldest, 'UNLINK')
end
return 1
`);

/** Drops the logs of an environment. KEYS: as above. ARGV: environment's UID, number of its last build. */
const forgetScript = new Script(`${DROP_LOG}
local last = tonumber(ARGV[2])
for number = last, math.max(1, last - 200), -1 do drop(ARGV[1] .. '/' .. number, 'UNLINK') end
return 1
`);

/**
 * Drops logs, and returns how many there were. KEYS: as above. ARGV: time before which logs have expired, total bytes, and
 * the logs to drop.
 */
const sweepScript = new Script(`${DROP_LOG}
local before = redis.call('ZCARD', KEYS[1])
for index = 3, #ARGV do drop(ARGV[index], 'UNLINK') end
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1000)) do drop(old, 'UNLINK') end
while tonumber(redis.call('GET', KEYS[3]) or '0') > tonumber(ARGV[2]) do
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if not oldest then break end
  drop(oldest, 'UNLINK')
end
return before - redis.call('ZCARD', KEYS[1])
`);

const maxDroppedAtOnce = 500;

export interface RetentionRedis extends ScriptRedis {
  zRange(key: string, first: number, last: number): Promise<string[]>;
}

/** Keeps the logs of finished builds within a budget. The ID of a log is `<environment's UID>/<build number>`. */
export class BuildLogRetention {
  readonly #redis: RetentionRedis;
  readonly #budget: RetentionBudget;
  readonly #now: () => Date;

  constructor(redis: RetentionRedis, budget: RetentionBudget, now: () => Date) {
    this.#redis = redis;
    this.#budget = budget;
    this.#now = now;
  }

  /** Counts an ended log, and drops others that exceed the budget. Can be called again for the same log. */
  async ended(environmentUid: string, build: number): Promise<void> {
    const now = this.#now().getTime();
    const { buildsPerEnvironment, totalBytes } = this.#budget;
    const numbers = [build, now, now - weekMs, buildsPerEnvironment, totalBytes];
    await endedScript.run(this.#redis, {
      keys: [ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL],
      arguments: [environmentUid, ...numbers.map(String)],
    });
  }

  /**
   * Drops the ended logs that have expired, exceed the budget, or are of environments that no longer exist. Returns how many
   * were dropped and how many are left.
   */
  async sweep(exists: (environmentUid: string) => boolean): Promise<{ dropped: number; left: number }> {
    const logs = await this.#redis.zRange(ENDED_INDEX, 0, -1);
    const gone = logs.filter((log) => !exists(log.slice(0, log.lastIndexOf('/'))));
    const expiredBefore = this.#now().getTime() - weekMs;
    let dropped = 0;
    // Runs once even if no log is dropped by name.
    for (let from = 0; from === 0 || from < gone.length; from += maxDroppedAtOnce) {
      const part = gone.slice(from, from + maxDroppedAtOnce);
      dropped += Number(
        await sweepScript.run(this.#redis, {
          keys: [ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL],
          arguments: [String(expiredBefore), String(this.#budget.totalBytes), ...part],
        }),
      );
    }
    return { dropped, left: Math.max(logs.length - dropped, 0) };
  }

  /** Drops the logs of a deleted environment, of the builds up to `lastBuild`. */
  async forget(environmentUid: string, lastBuild: number): Promise<void> {
    await forgetScript.run(this.#redis, {
      keys: [ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL],
      arguments: [environmentUid, String(lastBuild)],
    });
  }
}
