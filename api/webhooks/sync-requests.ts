import {
  MAX_NOTED_PULL_REQUESTS,
  notedPullRequests,
  noteOf,
  type PullRequestEvent,
} from '../../crds/pull-request-events.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { requestAnnotation, requestValue, SYNC_REQUEST } from '../../crds/requests.ts';
import { sleep, type Clock } from '../../kubernetes/clock.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { Unavailable } from '../shared/errors.ts';
import { currentAccount, currentRequestId } from '../shared/request-context.ts';

export interface SyncRequestOptions {
  cluster: Pick<ClusterWriter, 'patch'>;
  cache: Pick<Caches['repositories'], 'get' | 'observe'>;
  now: () => number;
  /** Measures the time between writes. */
  clock: Clock;
}

interface Batch {
  events: Map<number, PullRequestEvent>;
  /** Numbers of the pull requests whose events were recorded. */
  written: Promise<ReadonlySet<number>>;
}

/** The operator handles a sync that only records events within this time. */
const retryAfterSeconds = 30;
/**
 * Minimum time between the starts of two writes to one repository, in milliseconds. Every write costs the API server and
 * all watches more than the deliveries that share it; a host waits for seconds.
 */
export const WRITE_GAP_MS = 60;

/**
 * Requests syncs of a repository's refs through the Repository's annotations. Each repository has one write at a time,
 * and a minimum time between two: requests until then share the next one, so that no change is missed and a burst
 * causes few writes.
 */
export class SyncRequests {
  readonly #options: SyncRequestOptions;
  /** By UID: the next write. */
  readonly #waiting = new Map<string, Batch>();
  /** By UID: resolves when the next write can start, even if the last one failed. */
  readonly #ends = new Map<string, Promise<void>>();

  constructor(options: SyncRequestOptions) {
    this.#options = options;
  }

  /**
   * Requests a sync; resolves when the request is written.
   * @throws Unavailable when the event does not fit beside those that the operator has not handled yet; the sync, which
   * makes room, is requested anyway
   */
  async ask(repository: Repository, event?: PullRequestEvent): Promise<void> {
    const batch = this.#waiting.get(uidOf(repository)) ?? this.#newBatch(repository);
    if (event) batch.events.set(event.number, event);
    const noted = await batch.written;
    if (!event || noted.has(event.number)) return;
    const room = `${MAX_NOTED_PULL_REQUESTS} pull requests of this repository are waiting to be handled`;
    throw new Unavailable(`${room}. Deliver this one again later`, { retryAfterSeconds });
  }

  #newBatch(repository: Repository): Batch {
    const uid = uidOf(repository);
    const events = new Map<number, PullRequestEvent>();
    const start = this.#ends.get(uid) ?? Promise.resolve();
    const written = start.then(() => {
      this.#waiting.delete(uid);
      return this.#write(repository, [...events.values()]);
    });
    const gap = start.then(() => sleep(this.#options.clock, WRITE_GAP_MS));
    // The error goes to the callers of this write, not to those of the next one.
    const end = Promise.allSettled([written, gap]).then(() => {
      if (this.#ends.get(uid) === end) this.#ends.delete(uid);
    });
    this.#ends.set(uid, end);
    const batch = { events, written };
    this.#waiting.set(uid, batch);
    return batch;
  }

  async #write(repository: Repository, events: readonly PullRequestEvent[]): Promise<ReadonlySet<number>> {
    const { cluster, cache, now } = this.#options;
    const { namespace, name, uid } = repository.metadata;
    const noted = notedPullRequests((cache.get(keyOf(repository)) ?? repository).metadata.annotations);
    const fitting = notable(noted, events);
    const time = new Date(now());
    const id = currentRequestId();
    const annotations = {
      [requestAnnotation(SYNC_REQUEST)]: requestValue(time, id),
      [ANNOTATIONS.syncRequestedBy]: currentAccount() ?? 'webhook',
      ...Object.fromEntries(fitting.map((event) => noteOf(event, time, id))),
    };
    // The UID makes the API server refuse the patch for another object of the same name.
    const patch = { metadata: { uid, annotations } };
    cache.observe(await cluster.patch<Repository>(REPOSITORY, { namespace, name }, patch));
    return new Set(fitting.map(({ number }) => number));
  }
}

/**
 * Returns the events that fit beside those recorded already; an event replaces an earlier one of the same pull request.
 */
function notable(noted: readonly PullRequestEvent[], events: readonly PullRequestEvent[]): PullRequestEvent[] {
  const numbers = new Set(noted.map(({ number }) => number));
  return events.filter(({ number }) => {
    if (!numbers.has(number) && numbers.size >= MAX_NOTED_PULL_REQUESTS) return false;
    numbers.add(number);
    return true;
  });
}

function uidOf({ metadata: { uid = '' } }: Repository): string {
  return uid;
}
