import type { Logger } from 'pino';
import type { FlowOwner } from '../../../fair-queue/fair-queue.ts';
import { FairSlots } from '../../../fair-queue/fair-slots.ts';
import { sleep, type Clock } from '../../../kubernetes/clock.ts';
import type { BaseImages } from '../registry/base-images.ts';
import type { RegistryAuths } from '../registry/docker-config.ts';
import type { ImageLookup } from '../registry/image-lookup.ts';
import type { ImageReference } from '../registry/reference.ts';
import { RegistryPacing } from './registry-pacing.ts';

/** A running build that needs an image of another system. */
export interface ImageWait {
  buildId: string;
  /** Key of the Environment, which is reconciled when there is news. */
  environmentKey: string;
  group: string;
  image: string;
  reference: ImageReference;
  /** Returns the credentials with which pods will pull the image; read for each request, because they can change. */
  auths: () => Promise<RegistryAuths>;
}

export interface ImageWaitsOptions {
  registries: Pick<BaseImages, 'find'>;
  ownerOf: (group: string) => FlowOwner;
  enqueue: (environmentKey: string) => void;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
}

interface Entry {
  wait: ImageWait;
  lookup: ImageLookup | undefined;
  /** Number of requests so far. */
  requests: number;
  lastSeen: number;
  cancel: () => void;
}

/** Concurrent requests in the installation; a tenant leaves one for others, a registry leaves two. */
const maxConcurrent = 4;
/** Minimum time that a request occupies its slot: at most 16 requests are sent in a second. */
const slotMs = 250;
/** Interval after the first request for an image; it grows with each further one. */
const firstIntervalMs = 3000;
const growth = 1.4;
const maxIntervalMs = 20_000;
/** A wait is dropped if its build has not asked for so long: its Environment is suspended or gone. */
const forgottenMs = 10 * 60_000;
/** A waiting build must ask again within this time, in milliseconds. */
export const ASK_AGAIN_MS = forgottenMs / 2;

/**
 * Looks for images that running builds wait for. Requests are sent apart from reconciles and in few slots, so that
 * neither many waits nor a slow registry occupies a worker.
 */
export class ImageWaits {
  readonly #options: ImageWaitsOptions;
  readonly #slots = new FairSlots(maxConcurrent);
  readonly #pacing = new RegistryPacing();
  /** By the build's ID and the image. */
  readonly #entries = new Map<string, Map<string, Entry>>();

  constructor(options: ImageWaitsOptions) {
    this.#options = options;
  }

  /** Returns what was last found; undefined until the first response. Looks on until end() is called. */
  look(wait: ImageWait): ImageLookup | undefined {
    const { buildId, image } = wait;
    const ofBuild = this.#entries.get(buildId) ?? new Map<string, Entry>();
    this.#entries.set(buildId, ofBuild);
    const known = ofBuild.get(image);
    if (known) {
      Object.assign(known, { wait, lastSeen: this.#now });
      return known.lookup;
    }
    const entry = { wait, lookup: undefined, requests: 0, lastSeen: this.#now, cancel: () => undefined };
    ofBuild.set(image, entry);
    this.#schedule(entry);
    return undefined;
  }

  /** Stops looking for a build's images. */
  end(buildId: string): void {
    for (const { cancel } of this.#entries.get(buildId)?.values() ?? []) cancel();
    this.#entries.delete(buildId);
  }

  /** Number of builds whose images are looked for. */
  get size(): number {
    return this.#entries.size;
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** Waits until the registry can be asked. */
  #schedule(entry: Entry): void {
    if (this.#now - entry.lastSeen > forgottenMs) return this.end(entry.wait.buildId);
    const at = this.#pacing.reserve(this.#pacingKey(entry), this.#now);
    this.#later(entry, at - this.#now, () => {
      // Another image's request may have failed meanwhile.
      if (this.#pacing.isPaused(this.#pacingKey(entry), this.#now)) return this.#schedule(entry);
      this.#request(entry).catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, 'an image could not be looked up; this is retried');
        this.#askLater(entry);
      });
    });
  }

  async #request(entry: Entry): Promise<void> {
    const { registries, ownerOf, clock } = this.#options;
    const flow = { ...ownerOf(entry.wait.group), host: entry.wait.reference.registry };
    const lookup = await this.#slots.run(flow, async () => {
      if (!this.#isCurrent(entry)) return undefined;
      const find = async () => registries.find(entry.wait.reference, await entry.wait.auths());
      return (await Promise.all([find(), sleep(clock, slotMs)]))[0];
    });
    if (!lookup || !this.#isCurrent(entry)) return;
    entry.requests += 1;
    const isFailing = 'absence' in lookup && lookup.absence === 'failing';
    if (isFailing) this.#pacing.failed(this.#pacingKey(entry), this.#now);
    else this.#pacing.answered(this.#pacingKey(entry));
    const isNews = !entry.lookup || !isSame(entry.lookup, lookup);
    entry.lookup = lookup;
    if (isNews) this.#options.enqueue(entry.wait.environmentKey);
    if ('absence' in lookup && lookup.absence !== 'private') this.#askLater(entry);
  }

  #askLater(entry: Entry): void {
    const ms = Math.min(maxIntervalMs, firstIntervalMs * growth ** entry.requests);
    this.#later(entry, ms, () => this.#schedule(entry));
  }

  /** Sets the entry's only timer. */
  #later(entry: Entry, ms: number, work: () => void): void {
    if (this.#isCurrent(entry)) entry.cancel = this.#options.clock.setTimeout(work, ms);
  }

  #isCurrent(entry: Entry): boolean {
    return this.#entries.get(entry.wait.buildId)?.get(entry.wait.image) === entry;
  }

  #pacingKey({ wait: { group, reference } }: Entry): string {
    return `${this.#options.ownerOf(group).tenant} ${reference.registry}`;
  }
}

function isSame(some: ImageLookup, other: ImageLookup): boolean {
  if ('digest' in some) return 'digest' in other && some.digest === other.digest;
  return 'absence' in other && some.absence === other.absence;
}
