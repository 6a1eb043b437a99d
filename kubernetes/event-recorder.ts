import type { Logger } from 'pino';
import { FairQueue, type Flow } from '../fair-queue/fair-queue.ts';
import { isNotFound } from './api-error.ts';
import { systemClock, type Clock } from './clock.ts';
import type { ClusterClient } from './client.ts';
import { EventBudget } from './event-budget.ts';
import { CoreEvent, type KubernetesObject } from './resource-type.ts';

/** Something that happened to an object. */
export interface EventNote {
  type: 'Normal' | 'Warning';
  /** Machine-readable reason in CamelCase. */
  reason: string;
  /** Human-readable message, truncated to Kubernetes' limit of 1024 bytes. */
  note: string;
}

export interface EventRecorderMetrics {
  recorded(outcome: 'written' | 'dropped' | 'failed'): void;
}

export interface EventRecorderOptions {
  client: Pick<ClusterClient, 'create' | 'patch'>;
  /** Reporting controller: `coppice.dev/operator`. */
  controller: string;
  /** Process of the controller, at most 128 characters. */
  instance: string;
  /** Returns who an object's Events count for. */
  flowOf: (regarding: EventObject) => Flow;
  logger: Logger;
  metrics?: EventRecorderMetrics | undefined;
  clock?: Clock;
}

/** The object that an Event is about. */
export type EventObject = Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>;

interface Recorded {
  flow: Flow;
  regarding: EventObject;
  note: EventNote;
  at: number;
}

const maxNote = 1024;
/** A tenant never fills the queue, so that its Events displace nobody else's. */
const maxWaiting = { total: 1000, perTenant: 250 };
/** As in client-go (tools/record/events_cache.go, maxLruCacheEntries). */
const maxRemembered = 4096;

/**
 * Writes Events of core/v1, which `kubectl describe` shows in order. They are written one at a time in the background,
 * so a failure delays nothing else, and are fair to tenants. A repeated Event increments the count of the existing one, and client-go's spam
 * filter limits the Events of one object.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #budget: EventBudget;
  readonly #recorded = new Map<string, CoreEvent>();
  readonly #queue = new FairQueue<Recorded>();
  #lastName = 0n;
  #writing: Promise<void> | undefined;
  #stopped = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#budget = new EventBudget(this.#clock);
  }

  record(regarding: EventObject, note: EventNote): void {
    const { flowOf, metrics } = this.#options;
    const flow = flowOf(regarding);
    const isTooMany =
      this.#queue.size >= maxWaiting.total ||
      this.#queue.waitingOf(flow.tenant) >= maxWaiting.perTenant ||
      !this.#budget.take(regarding.metadata.uid ?? '');
    if (this.#stopped || isTooMany) {
      metrics?.recorded('dropped');
      return;
    }
    this.#queue.push(flow, { flow, regarding, note, at: this.#clock.now() });
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when everything recorded so far was written or has failed. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** Accepts no more Events; resolves when the recorded ones are written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.flush();
  }

  async #writeAll(): Promise<void> {
    const { logger, metrics } = this.#options;
    for (let next = this.#take(); next; next = this.#take()) {
      try {
        await this.#write(next);
        metrics?.recorded('written');
      } catch (error) {
        // The namespace is being deleted, or the API server does not respond: the status contains the same report.
        metrics?.recorded('failed');
        logger.debug({ err: error, object: next.regarding.metadata.name }, 'an event could not be written');
      }
    }
    this.#writing = undefined;
  }

  #take(): Recorded | undefined {
    const next = this.#queue.take();
    // One Event is written at a time, so the tenant that was served longest ago is next.
    if (next) this.#queue.finished(next.flow);
    return next;
  }

  async #write(recorded: Recorded): Promise<void> {
    const { client } = this.#options;
    const event = this.#eventOf(recorded);
    const { involvedObject, type, reason, message } = event;
    const key = JSON.stringify([involvedObject.uid, type, reason, message]);
    const before = this.#recorded.get(key);
    this.#recorded.delete(key);
    const written = before && (await this.#countUp(before, event));
    this.#recorded.set(key, written ?? (await client.create(CoreEvent, event)));
    const [oldest] = this.#recorded.keys();
    if (oldest !== undefined && this.#recorded.size > maxRemembered) this.#recorded.delete(oldest);
  }

  /**
   * Increments the Event's count; returns undefined if it no longer exists, because the API server keeps Events for an
   * hour.
   */
  async #countUp({ metadata, count = 1 }: CoreEvent, { lastTimestamp }: CoreEvent): Promise<CoreEvent | undefined> {
    const { namespace, name } = metadata;
    try {
      return await this.#options.client.patch(CoreEvent, { namespace, name }, { count: count + 1, lastTimestamp });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  }

  #eventOf({ regarding, note, at }: Recorded): CoreEvent {
    const { controller, instance } = this.#options;
    const { namespace, name, uid } = regarding.metadata;
    const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: namespace ?? 'default', name: `${name}.${this.#nextName(at)}` },
      involvedObject: { apiVersion: regarding.apiVersion, kind: regarding.kind, namespace, name, uid },
      type: note.type,
      reason: note.reason,
      message: cut(note.note, maxNote),
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: controller },
      reportingComponent: controller,
      reportingInstance: instance.slice(0, 128),
    };
  }

  /** Returns a name with nanoseconds in hexadecimal, as in client-go; names order the Events of one second. */
  #nextName(at: number): string {
    const time = BigInt(at) * 1_000_000n;
    this.#lastName = time > this.#lastName ? time : this.#lastName + 1n;
    return this.#lastName.toString(16);
  }
}

/** Truncates a text to this many bytes of UTF-8, between characters. */
function cut(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  const kept = encoded.subarray(0, bytes - 3);
  return `${kept.toString().replace(/\uFFFD+$/, '')}…`;
}
