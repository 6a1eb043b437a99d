import type { Logger } from 'pino';
import { objectKey, type KubernetesObject } from '../../kubernetes/resource-type.ts';
import type { ClusterWriter } from '../cluster/caches.ts';
import { orUnavailable, TooManyRequests } from '../shared/errors.ts';
import { REQUESTS_UNCOUNTED } from '../shared/messages.ts';
import { currentAccount, isFirstWrite } from '../shared/request-context.ts';
import type { LimitMetrics } from './limit-metrics.ts';

/** The Redis commands that the budget needs. */
export interface WriteBudgetRedis {
  get(key: string): Promise<string | null>;
  incrBy(key: string, increment: number): Promise<number>;
  pExpire(key: string, milliseconds: number): Promise<unknown>;
}

/** Bytes that the requests of one account can write to the cluster. */
export interface WrittenBytes {
  perMinute: number;
  perHour: number;
}

/** Who a write counts for, and how many times the limits of an account that is. */
export interface WriteOwner {
  name: string;
  times: number;
}

export interface WriteBudgetOptions {
  redis: WriteBudgetRedis;
  limits: WrittenBytes;
  metrics: LimitMetrics;
  logger: Pick<Logger, 'warn'>;
  now: () => number;
}

const mebibyte = 1024 * 1024;
/** What a write counts at least: API server, controllers and watchers handle a small object like a larger one. */
const minWrittenBytes = 8 * 1024;
const windows = [
  { name: 'minute', ms: 60_000, limitOf: ({ perMinute }: WrittenBytes) => perMinute },
  { name: 'hour', ms: 3_600_000, limitOf: ({ perHour }: WrittenBytes) => perHour },
] as const;

/**
 * Counts the bytes that the requests of an account write, in Redis for all replicas. etcd keeps every revision of an
 * object until compaction, so small changes of large objects can fill it.
 */
export class WriteBudget {
  readonly #options: WriteBudgetOptions;

  constructor(options: WriteBudgetOptions) {
    this.#options = options;
  }

  /**
   * Checks that the owner can write.
   * @throws TooManyRequests when it has spent its budget; Unavailable when Redis cannot be reached
   */
  async require({ name: owner, times }: WriteOwner): Promise<void> {
    const { redis, limits, metrics, now } = this.#options;
    const answers = Promise.all(windows.map(({ name, ms }) => redis.get(this.#keyOf(owner, name, ms))));
    const spent = await orUnavailable(answers, REQUESTS_UNCOUNTED);
    for (const [index, { name, ms, limitOf }] of windows.entries()) {
      const limit = times * limitOf(limits);
      if (Number(spent[index] ?? 0) < limit) continue;
      metrics.refused('written-bytes');
      const retryAfterSeconds = Math.ceil((ms - (now() % ms)) / 1000);
      throw new TooManyRequests(
        `your requests have written ${Math.round(limit / mebibyte)} MiB to the cluster within a ${name}, which is ` +
          `the limit. Try again in ${retryAfterSeconds} s`,
        { retryAfterSeconds },
      );
    }
  }

  /** Counts written bytes. Does not fail, because the write has already happened. */
  async spend({ name: owner }: WriteOwner, written: number): Promise<void> {
    const { redis, logger } = this.#options;
    const bytes = Math.max(written, minWrittenBytes);
    const count = async ({ name, ms }: (typeof windows)[number]) => {
      const key = this.#keyOf(owner, name, ms);
      await Promise.all([redis.incrBy(key, bytes), redis.pExpire(key, 2 * ms)]);
    };
    try {
      await Promise.all(windows.map(count));
    } catch (error) {
      logger.warn({ err: error, bytes }, 'the bytes that an account wrote could not be counted in Redis');
    }
  }

  #keyOf(owner: string, name: string, ms: number): string {
    return `coppice:written-bytes:${name}:${Math.floor(this.#options.now() / ms)}:${owner}`;
  }
}

/** What the deliveries for all groups of one account can write, in limits of an account: a Git host sends for many people. */
const deliveryTimes = 4;

/**
 * Returns the cluster with every write counted for the account of the request. Without one, for example of a webhook
 * delivery, it counts for the account that created the group, apart from that account's own requests. Only the
 * first write of a request can be refused, so that a request completes what it has started.
 * @param creatorOf returns the account that created the group of a namespace; undefined if none did
 */
export function budgetedWriter(
  cluster: ClusterWriter,
  budget: WriteBudget,
  creatorOf: (namespace: string) => string | undefined,
): ClusterWriter {
  const ownerOf = (namespace: string | undefined, name: string): WriteOwner => {
    const account = currentAccount();
    if (account !== undefined) return { name: account, times: 1 };
    const creator = namespace === undefined ? undefined : creatorOf(namespace);
    if (creator === undefined) return { name: objectKey(namespace, name), times: 1 };
    return { name: `deliveries ${creator}`, times: deliveryTimes };
  };
  const counted = async <T extends KubernetesObject>(
    { namespace, name }: { namespace?: string | undefined; name: string },
    write: () => Promise<T>,
  ): Promise<T> => {
    const owner = ownerOf(namespace, name);
    if (isFirstWrite()) await budget.require(owner);
    const written = await write();
    // Not awaited; spend() never rejects.
    void budget.spend(owner, Buffer.byteLength(JSON.stringify(written)));
    return written;
  };
  return {
    exclusively: (type, at, work) => cluster.exclusively(type, at, work),
    find: (type, at, options) => cluster.find(type, at, options),
    delete: (type, at, options) => cluster.delete(type, at, options),
    create: (type, object, options) => counted(object.metadata, () => cluster.create(type, object, options)),
    patch: (type, at, patch, options) => counted(at, () => cluster.patch(type, at, patch, options)),
  };
}
