import type { Logger } from 'pino';
import { refSnapshotKey, type RefSnapshot } from '../../../crds/ref-snapshot.ts';
import type { RefFacts } from '../../../crds/rule-decision.ts';
import { newestTags } from './tag-order.ts';

/** The Redis commands that this needs. */
export interface SnapshotRedis {
  set(key: string, value: string, options: { expiration: { type: 'PX'; value: number } }): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

/** Maximum size of the snapshot of each type of ref, in bytes of JSON: about 500 branches, or 130 pull requests. */
const maxBytes = 16 * 1024;
const maxTags = 1000;
/** A suspended Repository keeps its snapshot this long. */
const keptMs = 24 * 3600_000;

/** Keeps what syncs have listed in Redis, for dry runs of rules. Without Redis there are none until the next sync. */
export class RefSnapshots {
  readonly #redis: SnapshotRedis;
  readonly #logger: Pick<Logger, 'debug'>;

  constructor(redis: SnapshotRedis, logger: Pick<Logger, 'debug'>) {
    this.#redis = redis;
    this.#logger = logger;
  }

  /** Never fails, and waits for nothing: a sync needs no Redis. */
  write(repositoryUid: string, refs: readonly RefFacts[], at: Date): void {
    const expiration = { type: 'PX', value: keptMs } as const;
    const text = JSON.stringify(refSnapshot(refs, at));
    this.#redis.set(refSnapshotKey(repositoryUid), text, { expiration }).catch((error: unknown) => {
      this.#logger.debug({ err: error }, 'the listed refs could not be written to Redis');
    });
  }

  forget(repositoryUid: string): void {
    this.#redis.del(refSnapshotKey(repositoryUid)).catch((error: unknown) => {
      this.#logger.debug({ err: error }, 'the listed refs of a deleted repository could not be removed from Redis');
    });
  }
}

/** Returns as many of the refs as fit: the newest tags and pull requests, and the first branches by name. */
export function refSnapshot(refs: readonly RefFacts[], at: Date): RefSnapshot {
  const ofType = (type: RefFacts['type']) => refs.filter((ref) => ref.type === type);
  const names = ofType('branch').map(({ name }) => name);
  const allTags = ofType('tag').map(({ name }) => name);
  const pulls = ofType('pull request')
    .map(({ name, labels, targetBranch, sourceBranch, isDraft, isFork, author }) => ({
      number: Number(name),
      ...(labels && { labels: [...labels] }),
      ...{ targetBranch, sourceBranch, isDraft, isFork, author },
    }))
    .sort((one, other) => other.number - one.number);
  const branches = fitting(names);
  const tags = fitting(newestTags(allTags, maxTags));
  const pullRequests = fitting(pulls);
  return {
    at: at.toISOString(),
    branches,
    tags,
    pullRequests,
    leftOut: {
      branches: names.length - branches.length,
      tags: allTags.length - tags.length,
      pullRequests: pulls.length - pullRequests.length,
    },
  };
}

function fitting<T>(items: readonly T[]): T[] {
  let left = maxBytes;
  const end = items.findIndex((item) => (left -= Buffer.byteLength(JSON.stringify(item)) + 1) < 0);
  return end === -1 ? [...items] : items.slice(0, end);
}
