import { FairRoom } from '../fair-queue/fair-room.ts';
import { DROP_LOG, ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL } from './ended-logs.ts';
import { Script, type ScriptRedis } from './script.ts';

/** Limits for the logs of finished builds, each of which also expires a week after its last line. */
export interface RetentionBudget {
  /** Maximum number of logs of one environment. */
  buildsPerEnvironment: number;
  /** Maximum stored size of all logs together; the oldest ones of the tenant with most are dropped first. */
  totalBytes: number;
}

const weekMs = 7 * 24 * 3600 * 1000;

/**
 * Counts an ended log and drops older ones of its environment; returns the size of all. KEYS: index, sizes and total of
 * ended logs. ARGV: environment's UID, number of the ended build, current time, time before which logs have expired,
 * builds per environment.
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
return tonumber(redis.call('GET', KEYS[3]) or '0')
`);

/** Drops the logs of an environment. KEYS: as above. ARGV: environment's UID, number of its last build. */
const forgetScript = new Script(`${DROP_LOG}
local last = tonumber(ARGV[2])
for number = last, math.max(1, last - 200), -1 do drop(ARGV[1] .. '/' .. number, 'UNLINK') end
return 1
`);

/**
 * Drops logs, and returns how many there were. KEYS: as above. ARGV: time before which logs have expired, and the logs to
 * drop.
 */
const sweepScript = new Script(`${DROP_LOG}
local before = redis.call('ZCARD', KEYS[1])
for index = 2, #ARGV do drop(ARGV[index], 'UNLINK') end
for _, old in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, 1000)) do drop(old, 'UNLINK') end
return before - redis.call('ZCARD', KEYS[1])
`);

const maxDroppedAtOnce = 500;

export interface RetentionRedis extends ScriptRedis {
  zRange(key: string, first: number, last: number): Promise<string[]>;
  hGetAll(key: string): Promise<Record<string, string>>;
}

/** Keeps the logs of finished builds within a budget. The ID of a log is `<environment's UID>/<build number>`. */
export class BuildLogRetention {
  readonly #redis: RetentionRedis;
  readonly #budget: RetentionBudget;
  readonly #now: () => Date;

  readonly #tenantOf: (environmentUid: string) => string;

  /** @param tenantOf returns who an environment counts for; by default each counts alone */
  constructor(
    redis: RetentionRedis,
    budget: RetentionBudget,
    now: () => Date,
    tenantOf = (environmentUid: string) => environmentUid,
  ) {
    this.#redis = redis;
    this.#budget = budget;
    this.#now = now;
    this.#tenantOf = tenantOf;
  }

  /** Counts an ended log, and drops others that exceed the budget. Can be called again for the same log. */
  async ended(environmentUid: string, build: number): Promise<void> {
    const now = this.#now().getTime();
    const { buildsPerEnvironment, totalBytes } = this.#budget;
    const numbers = [build, now, now - weekMs, buildsPerEnvironment];
    const total = await endedScript.run(this.#redis, {
      keys: [ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL],
      arguments: [environmentUid, ...numbers.map(String)],
    });
    if (Number(total) > totalBytes) await this.#drop(await this.#beyondBudget(`${environmentUid}/${build}`));
  }

  /**
   * Returns the logs that exceed the budget: the oldest ones of the tenant with most, so that nobody's builds displace
   * the logs of others. @param last the log that has just ended, which is kept in any case
   */
  async #beyondBudget(last?: string): Promise<string[]> {
    const [logs, sizes] = await Promise.all([this.#redis.zRange(ENDED_INDEX, 0, -1), this.#redis.hGetAll(ENDED_SIZES)]);
    const room = new FairRoom();
    for (const log of logs) room.add(this.#tenantOf(uidOf(log)), log, Number(sizes[log] ?? 0));
    const { totalBytes } = this.#budget;
    const dropped = room.shrink(totalBytes);
    if (last === undefined || !dropped.includes(last)) return dropped;
    const others = room.shrink(totalBytes - Number(sizes[last] ?? 0));
    return [...dropped.filter((log) => log !== last), ...others];
  }

  /**
   * Drops the ended logs that have expired, exceed the budget, or are of environments that no longer exist. Returns how many
   * were dropped and how many are left.
   */
  async sweep(exists: (environmentUid: string) => boolean): Promise<{ dropped: number; left: number }> {
    const logs = await this.#redis.zRange(ENDED_INDEX, 0, -1);
    const ofGone = await this.#drop(logs.filter((log) => !exists(uidOf(log))));
    const dropped = ofGone + (await this.#drop(await this.#beyondBudget()));
    return { dropped, left: Math.max(logs.length - dropped, 0) };
  }

  /** Drops logs, and all that have expired. Returns how many there were. */
  async #drop(logs: readonly string[]): Promise<number> {
    const expiredBefore = this.#now().getTime() - weekMs;
    let dropped = 0;
    // Runs once even if no log is dropped by name.
    for (let from = 0; from === 0 || from < logs.length; from += maxDroppedAtOnce) {
      const part = logs.slice(from, from + maxDroppedAtOnce);
      dropped += Number(
        await sweepScript.run(this.#redis, {
          keys: [ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL],
          arguments: [String(expiredBefore), ...part],
        }),
      );
    }
    return dropped;
  }

  /** Drops the logs of a deleted environment, of the builds up to `lastBuild`. */
  async forget(environmentUid: string, lastBuild: number): Promise<void> {
    await forgetScript.run(this.#redis, {
      keys: [ENDED_INDEX, ENDED_SIZES, ENDED_TOTAL],
      arguments: [environmentUid, String(lastBuild)],
    });
  }
}

function uidOf(log: string): string {
  return log.slice(0, log.lastIndexOf('/'));
}
