import { z } from 'zod';
import { type Item, itemSchema } from '../test-types/items.ts';
import type { QueuedRun } from './run-queue.ts';
import { KeptRuns } from './kept-runs.ts';
import type { Redis } from '../../process/redis-connection.ts';
import { type NewRun, type RunStatus, stateSchema } from './run.ts';

const prefix = 'coppice:tester';
const keyOf = (id: string): string => `${prefix}:run:${id}`;
/** A sorted set: runs that wait, by the number under which they came. */
const queuedKey = `${prefix}:queued`;
const runningKey = `${prefix}:running`;
/** A sorted set: runs that have ended, by when. */
const endedKey = `${prefix}:ended`;
const numberKey = `${prefix}:number`;

/**
 * Ends a run that is running, and no other: one that a later tester has given up stays failed. Its params go, for nobody
 * asks for them again, and they are not counted. ARGV: id, ms, now, fields.
 */
const endScript = `
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then
  redis.call('SREM', KEYS[2], ARGV[1])
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('HDEL', KEYS[1], 'params')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[3] - ARGV[2])
return 1`;

/** How long runs are kept that have ended, and what all of them may take. */
export interface Keep {
  ms: number;
  bytes: number;
}

/** About what a run takes in Redis beside its result, and once its params have gone: its fields, and Redis's own. */
const bytesOfRun = 1024;

/** What a run ended with. */
export type End = { result: Item[] } | { message: string };

export interface StoredRun {
  type: string;
  params: unknown;
}

/** Runs in Redis: a hash each, without expiry until it has ended. Every method throws where Redis is away. */
export class RunStore {
  readonly #redis: Redis;
  readonly #keep: Keep;
  readonly #now: () => number;
  #kept: KeptRuns;

  /** @param now milliseconds of the clock. */
  constructor(redis: Redis, keep: Keep, now: () => number) {
    this.#redis = redis;
    this.#keep = keep;
    this.#now = now;
    this.#kept = new KeptRuns(keep);
  }

  /** Reads what is kept of runs that ended before this process started. */
  async loadKept(): Promise<void> {
    const kept = new KeptRuns(this.#keep);
    const gone: string[] = [];
    for (const { value: id, score: endedAt } of await this.#redis.zRangeWithScores(endedKey, 0, -1)) {
      const [group, bytes] = await this.#redis.hmGet(keyOf(id), ['group', 'bytes']);
      if (typeof bytes === 'string') gone.push(...kept.add({ id, group: group ?? '', bytes: Number(bytes), endedAt }));
    }
    this.#kept = kept;
    await this.#drop(gone);
  }

  async add({ id, secretHash, type, params, group, tenant }: NewRun): Promise<void> {
    const number = await this.#redis.incr(numberKey);
    const fields = { state: 'queued', secretHash, type, params: JSON.stringify(params), group, tenant };
    await this.#redis.multi().hSet(keyOf(id), fields).zAdd(queuedKey, { score: number, value: id }).exec();
  }

  /** Notes that the run starts. @returns what to run; undefined where Redis has lost it. */
  async start(id: string): Promise<StoredRun | undefined> {
    const [type, params] = await this.#redis.hmGet(keyOf(id), ['type', 'params']);
    if (type === undefined || type === null || params === undefined || params === null) {
      await this.#redis.zRem(queuedKey, id);
      return undefined;
    }
    await this.#redis.multi().hSet(keyOf(id), { state: 'running' }).zRem(queuedKey, id).sAdd(runningKey, id).exec();
    return { type, params: JSON.parse(params) };
  }

  /** @returns false where the run had ended already. */
  async end(id: string, end: End): Promise<boolean> {
    const [state, name, text] =
      'result' in end ? ['finished', 'result', JSON.stringify(end.result)] : ['failed', 'message', end.message];
    const bytes = text.length + bytesOfRun;
    const endedAt = this.#now();
    const given = [id, this.#keep.ms, endedAt, 'state', state, name, text, 'bytes', bytes].map(String);
    const options = { keys: [keyOf(id), runningKey, endedKey], arguments: given };
    if ((await this.#redis.eval(endScript, options)) !== 1) return false;
    const group = (await this.#redis.hGet(keyOf(id), 'group')) ?? '';
    await this.#drop(this.#kept.add({ id, group, bytes, endedAt }));
    return true;
  }

  /** The hash of the run's Secret; undefined where there is no such run. */
  async secretHash(id: string): Promise<string | undefined> {
    return (await this.#redis.hGet(keyOf(id), 'secretHash')) ?? undefined;
  }

  /** undefined where there is no such run. */
  async status(id: string): Promise<RunStatus | undefined> {
    const [state, message] = await this.#redis.hmGet(keyOf(id), ['state', 'message']);
    return state === undefined || state === null
      ? undefined
      : { state: stateSchema.parse(state), message: message ?? undefined };
  }

  /** undefined where the run has none. */
  async result(id: string): Promise<Item[] | undefined> {
    const text = await this.#redis.hGet(keyOf(id), 'result');
    return text === null ? undefined : z.array(itemSchema).parse(JSON.parse(text));
  }

  /** The ids of what runs: right after a start, of what ran when the former tester ended. */
  running(): Promise<string[]> {
    return this.#redis.sMembers(runningKey);
  }

  /** What waits, first come first. */
  async queued(): Promise<QueuedRun[]> {
    const ids = await this.#redis.zRange(queuedKey, 0, -1);
    return Promise.all(
      ids.map(async (id) => {
        const [group, tenant] = await this.#redis.hmGet(keyOf(id), ['group', 'tenant']);
        return { id, group: group ?? '', tenant: tenant ?? group ?? '' };
      }),
    );
  }

  /** Takes away what is kept no longer: as if it had never been. */
  async #drop(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#redis
      .multi()
      .del(ids.map(keyOf))
      .zRem(endedKey, [...ids])
      .exec();
  }
}
