import { z } from 'zod';
import { type Item, itemSchema } from '../test-types/items.ts';
import type { QueuedRun } from './run-queue.ts';
import { KeptRuns } from './kept-runs.ts';
import type { Redis } from '../../process/redis-connection.ts';
import { type NewRun, type RunStatus, stateSchema } from './run.ts';

const prefix = 'coppice:tester';
const keyOf = (id: string): string => `${prefix}:run:${id}`;
/** A sorted set of waiting runs, by sequence number. */
const queuedKey = `${prefix}:queued`;
const runningKey = `${prefix}:running`;
/** A sorted set of finished runs, by their end. */
const endedKey = `${prefix}:ended`;
const numberKey = `${prefix}:number`;

/**
 * Ends a run that is still running: one that a restarted tester has given up stays failed. Deletes its params and
 * headers, which are no longer needed. ARGV: id, ms, now, fields.
 */
const endScript = `
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then
  redis.call('SREM', KEYS[2], ARGV[1])
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
redis.call('HDEL', KEYS[1], 'params', 'headers')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[3] - ARGV[2])
return 1`;

/** How long finished runs are kept, and the maximum size of all of them. */
export interface Keep {
  ms: number;
  bytes: number;
}

/** Approximate size in bytes of a finished run in Redis without its result and params. */
const bytesOfRun = 1024;

const headersSchema = z.record(z.string(), z.string());

/** The end of a run. */
export type End = { result: Item[] } | { message: string };

export interface StoredRun {
  type: string;
  params: unknown;
  headers?: Record<string, string>;
}

/**
 * Stores runs in Redis: one hash each, without expiry until it has finished. Every method throws when Redis is
 * disconnected.
 */
export class RunStore {
  readonly #redis: Redis;
  readonly #keep: Keep;
  readonly #now: () => number;
  #kept: KeptRuns;

  /** Creates the store. @param now returns milliseconds of the clock */
  constructor(redis: Redis, keep: Keep, now: () => number) {
    this.#redis = redis;
    this.#keep = keep;
    this.#now = now;
    this.#kept = new KeptRuns(keep);
  }

  /** Reads runs that finished before this process started. */
  async loadKept(): Promise<void> {
    const kept = new KeptRuns(this.#keep);
    const gone: string[] = [];
    for (const { value: id, score: endedAt } of await this.#redis.zRangeWithScores(endedKey, 0, -1)) {
      const [group, tenant, bytes] = await this.#redis.hmGet(keyOf(id), ['group', 'tenant', 'bytes']);
      if (typeof bytes === 'string')
        gone.push(...kept.add({ id, tenant: tenant ?? group ?? '', bytes: Number(bytes), endedAt }));
    }
    this.#kept = kept;
    await this.#drop(gone);
  }

  async add({ id, secretHash, type, params, headers = {}, group, tenant }: NewRun): Promise<void> {
    const number = await this.#redis.incr(numberKey);
    const fields = {
      state: 'queued',
      secretHash,
      type,
      params: JSON.stringify(params),
      headers: JSON.stringify(headers),
      group,
      tenant,
    };
    await this.#redis.multi().hSet(keyOf(id), fields).zAdd(queuedKey, { score: number, value: id }).exec();
  }

  /** Records that the run starts. @returns the run; undefined if Redis has lost it */
  async start(id: string): Promise<StoredRun | undefined> {
    const [type, params, headers] = await this.#redis.hmGet(keyOf(id), ['type', 'params', 'headers']);
    if (type === undefined || type === null || params === undefined || params === null) {
      await this.#redis.zRem(queuedKey, id);
      return undefined;
    }
    await this.#redis.multi().hSet(keyOf(id), { state: 'running' }).zRem(queuedKey, id).sAdd(runningKey, id).exec();
    return { type, params: JSON.parse(params), headers: headersSchema.parse(JSON.parse(headers ?? '{}')) };
  }

  /** Records the end of the run. @returns false if the run had ended already */
  async end(id: string, end: End): Promise<boolean> {
    const [state, name, text] =
      'result' in end ? ['finished', 'result', JSON.stringify(end.result)] : ['failed', 'message', end.message];
    const bytes = text.length + bytesOfRun;
    const endedAt = this.#now();
    const given = [id, this.#keep.ms, endedAt, 'state', state, name, text, 'bytes', bytes].map(String);
    const options = { keys: [keyOf(id), runningKey, endedKey], arguments: given };
    if ((await this.#redis.eval(endScript, options)) !== 1) return false;
    const [group, tenant] = await this.#redis.hmGet(keyOf(id), ['group', 'tenant']);
    await this.#drop(this.#kept.add({ id, tenant: tenant ?? group ?? '', bytes, endedAt }));
    return true;
  }

  /** Returns the hash of the run's Secret; undefined if there is no such run. */
  async secretHash(id: string): Promise<string | undefined> {
    return (await this.#redis.hGet(keyOf(id), 'secretHash')) ?? undefined;
  }

  /** Returns the run's status; undefined if there is no such run. */
  async status(id: string): Promise<RunStatus | undefined> {
    const [state, message] = await this.#redis.hmGet(keyOf(id), ['state', 'message']);
    return state === undefined || state === null
      ? undefined
      : { state: stateSchema.parse(state), message: message ?? undefined };
  }

  /** Returns the run's result; undefined if it has none. */
  async result(id: string): Promise<Item[] | undefined> {
    const text = await this.#redis.hGet(keyOf(id), 'result');
    return text === null ? undefined : z.array(itemSchema).parse(JSON.parse(text));
  }

  /** Returns the IDs of running runs: right after a start, those that the previous tester left. */
  running(): Promise<string[]> {
    return this.#redis.sMembers(runningKey);
  }

  /** Returns the waiting runs in order of arrival. */
  async queued(): Promise<QueuedRun[]> {
    const ids = await this.#redis.zRange(queuedKey, 0, -1);
    return Promise.all(
      ids.map(async (id) => {
        const [group, tenant] = await this.#redis.hmGet(keyOf(id), ['group', 'tenant']);
        return { id, group: group ?? '', tenant: tenant ?? group ?? '' };
      }),
    );
  }

  /** Deletes runs completely. */
  async #drop(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#redis
      .multi()
      .del(ids.map(keyOf))
      .zRem(endedKey, [...ids])
      .exec();
  }
}
