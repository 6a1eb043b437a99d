import type { Logger } from 'pino';
import { hostPort } from '../../shared/network-peers.ts';
import { KeyedLock } from '../../shared/keyed-lock.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { usedTooMuchDisk } from '../../shared/pod-parts.ts';
import { podDiagnosis } from '../../services/diagnosis/pod-diagnosis.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import type { BuilderSet } from './builder-set.ts';
import {
  buildOf,
  groupBuilder,
  groupBuilderName,
  ephemeralBuilder,
  type BuilderIdentity,
  type BuildIdentity,
} from './identity.ts';
import { BUILDKITD_PORT, certificatesIn } from './objects.ts';
import { isHopeless, isKeptByVolume, isReplaceable } from './pod-state.ts';
import type { BuilderPoolSettings } from './settings.ts';
import { Waiters } from './waiters.ts';

export interface BuilderRequest {
  group: string;
  /** False for untrusted code, which gets a builder that no other build uses. */
  trusted: boolean;
  build: BuildIdentity;
}

/** What buildctl needs to connect to a builder; certificates and key are PEM. */
export interface BuilderEndpoint {
  /** `tcp://IP:PORT` */
  address: string;
  /** Name in the server's certificate. */
  serverName: string;
  ca: string;
  certificate: string;
  key: string;
}

export interface BuilderPoolOptions {
  builders: BuilderSet;
  settings: Pick<BuilderPoolSettings, 'startDeadlineSeconds' | 'ephemeral'>;
  /** Requeues the Environment with this key. */
  enqueue: (environmentKey: string) => void;
  logger: Logger;
  now: () => Date;
}

const recheckMs = 10_000;
/** Key of the builds that wait because the maximum number of ephemeral builders is running. */
const ephemeralQueue = 'ephemeral';

/** Provides each build with its builder, and starts the builder if it is scaled to zero. */
export class BuilderPool {
  readonly #options: BuilderPoolOptions;
  readonly #starts = new KeyedLock();
  readonly #waiters = new Waiters();

  constructor(options: BuilderPoolOptions) {
    this.#options = options;
  }

  /**
   * Returns the builder of a build that its Environment's status records as running; the builder is kept until the
   * build has ended.
   * @throws Waiting until it is ready, which requeues the Environment; Stalled when it does not become ready, or a
   * previous one is not deleted, within startDeadlineSeconds, or when an ephemeral builder was evicted for its disk
   * usage
   */
  async acquire(request: BuilderRequest): Promise<BuilderEndpoint> {
    const { group, trusted, build } = request;
    const identity = trusted ? groupBuilder(group) : ephemeralBuilder(group, build);
    const endpoint = this.#endpoint(identity.name);
    if (endpoint) {
      this.#waiters.remove(identity.name, build);
      return endpoint;
    }
    if (identity.isEphemeral) {
      this.#refuseEvicted(identity.name, build);
      await this.#starts.run(ephemeralQueue, () => this.#startEphemeral(identity, request));
    } else {
      await this.#startFor(request, identity);
    }
    throw this.#unready(identity.name, build);
  }

  /**
   * Starts the group's builder for a build that is about to start. A failure is logged here and thrown by acquire().
   */
  warm(group: string): void {
    const { logger } = this.#options;
    this.#startOnce(groupBuilder(group)).catch((error: unknown) => {
      logger.warn({ err: error, group }, "the group's builder could not be started early; the build starts it");
    });
  }

  /** Deletes a group's builder with its cache. Returns whether all its objects are gone. */
  remove(group: string): Promise<boolean> {
    return this.#options.builders.remove(groupBuilderName(group));
  }

  /**
   * Returns whether the builder of a build that started at this time no longer exists. Without this check, a build whose
   * builder's node was lost would wait for its deadline, because no connection breaks.
   */
  isGone({ group, trusted, build }: BuilderRequest, startedAt: Date): boolean {
    const pod = this.#options.builders.pod((trusted ? groupBuilder(group) : ephemeralBuilder(group, build)).name);
    return pod === undefined || Date.parse(pod.metadata.creationTimestamp ?? '') > startedAt.getTime();
  }

  /** Requeues the Environments that wait for this builder. */
  wake(name: string): void {
    for (const key of this.#waiters.take(name)) this.#options.enqueue(key);
  }

  /** Requeues the Environments that wait for an ephemeral builder. */
  wakeQueue(): void {
    this.wake(ephemeralQueue);
  }

  #endpoint(name: string): BuilderEndpoint | undefined {
    const { builders } = this.#options;
    const pod = builders.pod(name);
    const secret = builders.secret(name);
    if (!pod || !secret || !builders.isReady(pod)) return undefined;
    const { ca, client } = certificatesIn(secret);
    return {
      address: `tcp://${hostPort(pod.status?.podIP ?? '', BUILDKITD_PORT)}`,
      serverName: name,
      ca,
      certificate: client.certificate,
      key: client.key,
    };
  }

  /** Objects of a previous builder may delay the start, up to the deadline. */
  async #startFor({ group, build }: BuilderRequest, identity: BuilderIdentity): Promise<void> {
    const { name } = identity;
    this.#waiters.add(name, group, build, this.#options.now());
    try {
      await this.#startOnce(identity);
    } catch (error) {
      throw error instanceof Waiting && this.#isOverdue(name, build) ? this.#stuck(name, build) : error;
    }
  }

  /**
   * Starts the builder. An evicted pod is deleted first, and replaced once it is gone; so is one whose cache is on a node
   * that takes no pods, with the cache.
   */
  #startOnce(identity: BuilderIdentity): Promise<void> {
    const { builders, now } = this.#options;
    return this.#starts.run(identity.name, async () => {
      const pod = builders.pod(identity.name);
      if (!pod) await builders.start(identity);
      else if (builders.isStopping(pod)) return;
      else if (isKeptByVolume(pod, now())) await this.#discardCache(pod);
      else if (isReplaceable(pod, now())) await builders.stop(pod);
    });
  }

  async #discardCache(pod: Pod): Promise<void> {
    const { builders, logger } = this.#options;
    logger.warn({ builder: pod.metadata.name }, "the node with the builder's cache takes no pods; it starts without");
    await builders.discardCache(pod);
  }

  async #startEphemeral(identity: BuilderIdentity, request: BuilderRequest): Promise<void> {
    const { builders, settings, now } = this.#options;
    const { maxConcurrent } = settings.ephemeral;
    const others = builders
      .secrets()
      .filter(({ metadata }) => metadata.name !== identity.name && buildOf(metadata.labels) !== undefined);
    if (!builders.secret(identity.name) && others.length >= maxConcurrent) {
      this.#waiters.add(ephemeralQueue, request.group, request.build, now());
      const why = `${maxConcurrent} builds of untrusted code are running, which is the limit; this one is queued`;
      throw new Waiting('WaitingForBuilder', why, recheckMs);
    }
    await this.#startFor(request, identity);
  }

  /** Throws Stalled if the builder was evicted for its disk usage: another attempt would use as much. */
  #refuseEvicted(name: string, build: BuildIdentity): void {
    const status = this.#options.builders.pod(name)?.status;
    if (!usedTooMuchDisk(status)) return;
    this.#waiters.remove(name, build);
    throw new Stalled(
      'BuildFailed',
      `the build used more disk than permitted for untrusted code (${status?.message?.trim() ?? ''}). Write ` +
        'less, or ask an administrator to raise the limit (chart value builder.ephemeral.storage)',
    );
  }

  #unready(name: string, build: BuildIdentity): Stalled | Waiting {
    const { builders, settings, now } = this.#options;
    const pod = builders.pod(name);
    const isStopping = pod !== undefined && builders.isStopping(pod);
    if (isStopping && this.#isOverdue(name, build)) return this.#stuck(name, build);
    const why = pod && (podDiagnosis(pod) ?? pod.status?.message);
    if (pod && !isStopping && isHopeless(pod, settings.startDeadlineSeconds, now())) {
      return this.#unavailable(name, build, `did not become ready: ${why ?? 'no reason was reported'}`);
    }
    const message = `the builder ${name} is starting${why === undefined ? '' : `: ${why}`}`;
    return new Waiting('StartingBuilder', message, recheckMs);
  }

  #isOverdue(name: string, build: BuildIdentity): boolean {
    const { settings, now } = this.#options;
    const since = this.#waiters.since(name, build);
    return since !== undefined && now().getTime() - since.getTime() > settings.startDeadlineSeconds * 1000;
  }

  /** Returns the error for a previous builder that is not deleted, for example because its node is lost. */
  #stuck(name: string, build: BuildIdentity): Stalled {
    const { builders, settings } = this.#options;
    const node = builders.pod(name)?.spec?.nodeName;
    const where = node === undefined ? '' : ` from the node ${node}`;
    const what = `cannot start: objects of a previous builder were not deleted${where} after ${settings.startDeadlineSeconds} s`;
    return this.#unavailable(name, build, what);
  }

  #unavailable(name: string, build: BuildIdentity, what: string): Stalled {
    this.#waiters.remove(name, build);
    const help = 'Ask an administrator to check it, then request a build';
    return new Stalled('BuilderUnavailable', `the builder ${name} ${what}. ${help}`);
  }
}
