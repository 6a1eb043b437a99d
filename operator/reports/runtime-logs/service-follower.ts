import type { Logger } from 'pino';
import type { RuntimeLogWriter } from '../../../build-logs/runtime-writer.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { InstanceFollower } from './instance-follower.ts';
import { type Instance, instancesOf } from './instances.ts';
import { LineQuota } from './line-quota.ts';

export interface ServiceFollowerOptions {
  client: Pick<ClusterClient, 'podLog'>;
  writer: Pick<RuntimeLogWriter, 'append' | 'position' | 'touch' | 'close'>;
  service: string;
  /** Returns the environment's current pods. */
  pods: () => readonly Pod[];
  /** Called once when the log cannot be continued and a new follower with a new writer is needed. */
  onFailed: (error: unknown) => void;
  now: () => number;
  logger: Logger;
}

/** Follows all pods of one service into one log, including new pods. */
export class ServiceFollower {
  readonly #options: ServiceFollowerOptions;
  readonly #quota: LineQuota;
  readonly #followed = new Set<string>();
  readonly #stopping = new AbortController();
  #isLoaded = false;

  constructor(options: ServiceFollowerOptions) {
    this.#options = options;
    this.#quota = new LineQuota(options.now);
  }

  /** Writes the existing lines, then signals readers that earlier lines are complete, and continues. */
  async start(): Promise<void> {
    await this.#orFail(async () => {
      const followers = this.#newFollowers();
      await Promise.all(followers.map((follower) => follower.readHistory()));
      this.#isLoaded = true;
      await this.touch();
      for (const follower of followers) void this.#orFail(() => follower.follow());
      this.check();
    });
  }

  /** Follows runs of containers that are not followed yet. */
  check(): void {
    if (!this.#isLoaded || this.#stopping.signal.aborted) return;
    for (const follower of this.#newFollowers()) void this.#orFail(() => follower.follow());
  }

  /** Records that the log is still being read. */
  touch(): Promise<void> {
    return this.#options.writer.touch(this.#isLoaded);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#options.writer.close();
  }

  #instances(): Instance[] {
    return instancesOf(this.#options.pods(), this.#options.service);
  }

  #newFollowers(): InstanceFollower[] {
    const fresh = this.#instances().filter(({ source }) => !this.#followed.has(source));
    return fresh.map((instance) => {
      this.#followed.add(instance.source);
      return new InstanceFollower(instance, {
        ...this.#options,
        quota: this.#quota,
        isRunning: () => this.#instances().some(({ source, isRunning }) => isRunning && source === instance.source),
        signal: this.#stopping.signal,
      });
    });
  }

  async #orFail(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#stopping.abort();
      this.#options.onFailed(error);
    }
  }
}
