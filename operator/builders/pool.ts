import type { Logger } from 'pino';
import { hostPort } from '../network-peers.ts';
import { KeyedLock } from '../keyed-lock.ts';
import { Stalled, Waiting } from '../errors.ts';
import { usedTooMuchDisk } from '../pod-parts.ts';
import { podTrouble } from '../workloads/pod-trouble.ts';
import type { BuilderSet } from './builder-set.ts';
import {
  buildOf,
  groupBuilder,
  groupBuilderName,
  throwawayBuilder,
  type BuilderIdentity,
  type BuildIdentity,
} from './identity.ts';
import { BUILDKITD_PORT, certificatesIn } from './objects.ts';
import { isHopeless, isReplaceable } from './pod-state.ts';
import type { BuilderPoolSettings } from './settings.ts';
import { Waiters } from './waiters.ts';

export interface BuilderRequest {
  group: string;
  /** False for code that may come from strangers: it gets a builder that nobody else uses. */
  trusted: boolean;
  build: BuildIdentity;
}

/** What a buildctl needs to reach a builder; certificates and key are PEM. */
export interface BuilderEndpoint {
  /** `tcp://IP:PORT` */
  address: string;
  /** The name in the server's certificate. */
  serverName: string;
  ca: string;
  certificate: string;
  key: string;
}

export interface BuilderPoolParts {
  builders: BuilderSet;
  settings: Pick<BuilderPoolSettings, 'startDeadlineSeconds' | 'throwaway'>;
  /** Has the Environment under this key looked at again. */
  enqueue: (environmentKey: string) => void;
  logger: Logger;
  now: () => Date;
}

const recheckMs = 10_000;
/** Where builds wait that need a throwaway builder while as many as may run. */
const throwawayQueue = 'throwaway';

/** Gives each build the builder it may use, and starts that when it sleeps. */
export class BuilderPool {
  readonly #parts: BuilderPoolParts;
  readonly #starts = new KeyedLock();
  readonly #waiters = new Waiters();

  constructor(parts: BuilderPoolParts) {
    this.#parts = parts;
  }

  /**
   * The builder of a build that is recorded as running in its Environment's status; it stays until that has ended.
   * @throws Waiting until it is ready, which has the Environment looked at again; Stalled when it does not come up, or a
   * former one does not go, within startDeadlineSeconds, and when the build's own one was ended for the disk it used.
   */
  async acquire(request: BuilderRequest): Promise<BuilderEndpoint> {
    const { group, trusted, build } = request;
    const identity = trusted ? groupBuilder(group) : throwawayBuilder(group, build);
    const endpoint = this.#endpoint(identity.name);
    if (endpoint) {
      this.#waiters.remove(identity.name, build);
      return endpoint;
    }
    if (identity.isThrowaway) {
      this.#requireModest(identity.name, build);
      await this.#starts.run(throwawayQueue, () => this.#startThrowaway(identity, request));
    } else {
      await this.#startFor(request, identity);
    }
    throw this.#unready(identity.name, build);
  }

  /** Starts the group's builder for a build that is about to come; a failure is logged, acquire() will tell it. */
  warm(group: string): void {
    const { logger } = this.#parts;
    this.#startOnce(groupBuilder(group)).catch((error: unknown) => {
      logger.warn({ err: error, group }, "the group's builder could not be started early");
    });
  }

  /** Takes a group's builder away, with its cache. True when nothing of it is left. */
  remove(group: string): Promise<boolean> {
    return this.#parts.builders.remove(groupBuilderName(group));
  }

  /** Has those looked at again that wait for this builder. */
  wake(name: string): void {
    for (const key of this.#waiters.take(name)) this.#parts.enqueue(key);
  }

  /** Has those looked at again that wait for a place. */
  wakeQueue(): void {
    this.wake(throwawayQueue);
  }

  #endpoint(name: string): BuilderEndpoint | undefined {
    const { builders } = this.#parts;
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

  /** What is left of a former builder may hold the start up, but not for ever. */
  async #startFor({ group, build }: BuilderRequest, identity: BuilderIdentity): Promise<void> {
    const { name } = identity;
    this.#waiters.add(name, group, build, this.#parts.now());
    try {
      await this.#startOnce(identity);
    } catch (error) {
      throw error instanceof Waiting && this.#isOverdue(name, build) ? this.#stuck(name, build) : error;
    }
  }

  /** Of a builder that was evicted the pod is taken away; when it is gone, another one is made. */
  #startOnce(identity: BuilderIdentity): Promise<void> {
    const { builders, now } = this.#parts;
    return this.#starts.run(identity.name, async () => {
      const pod = builders.pod(identity.name);
      if (!pod) await builders.start(identity);
      else if (!builders.isStopping(pod) && isReplaceable(pod, now())) await builders.stop(pod);
    });
  }

  async #startThrowaway(identity: BuilderIdentity, request: BuilderRequest): Promise<void> {
    const { builders, settings, now } = this.#parts;
    const { atOnce } = settings.throwaway;
    const others = builders
      .secrets()
      .filter(({ metadata }) => metadata.name !== identity.name && buildOf(metadata.labels) !== undefined);
    if (!builders.secret(identity.name) && others.length >= atOnce) {
      this.#waiters.add(throwawayQueue, request.group, request.build, now());
      const why = `${atOnce} builds of code that is not trusted run at once; this one waits for its turn`;
      throw new Waiting('WaitingForBuilder', why, recheckMs);
    }
    await this.#startFor(request, identity);
  }

  /** Another try would use as much disk again. */
  #requireModest(name: string, build: BuildIdentity): void {
    const status = this.#parts.builders.pod(name)?.status;
    if (!usedTooMuchDisk(status)) return;
    this.#waiters.remove(name, build);
    throw new Stalled(
      'BuildFailed',
      `the build used more disk than one of code that is not trusted may (${status?.message?.trim() ?? ''}): let it ` +
        'write less, or let an administrator give such builds more (chart value builder.throwaway.storage)',
    );
  }

  #unready(name: string, build: BuildIdentity): Stalled | Waiting {
    const { builders, settings, now } = this.#parts;
    const pod = builders.pod(name);
    const isStopping = pod !== undefined && builders.isStopping(pod);
    if (isStopping && this.#isOverdue(name, build)) return this.#stuck(name, build);
    const why = pod && (podTrouble(pod) ?? pod.status?.message);
    if (pod && !isStopping && isHopeless(pod, settings.startDeadlineSeconds, now())) {
      return this.#unavailable(name, build, `did not become ready: ${why ?? 'it does not say why'}`);
    }
    const message = `the builder ${name} is starting${why === undefined ? '' : `: ${why}`}`;
    return new Waiting('StartingBuilder', message, recheckMs);
  }

  #isOverdue(name: string, build: BuildIdentity): boolean {
    const { settings, now } = this.#parts;
    const since = this.#waiters.since(name, build);
    return since !== undefined && now().getTime() - since.getTime() > settings.startDeadlineSeconds * 1000;
  }

  /** A node that is lost keeps its pods' ends, and their volumes, from being told. */
  #stuck(name: string, build: BuildIdentity): Stalled {
    const { builders, settings } = this.#parts;
    const node = builders.pod(name)?.spec?.nodeName;
    const where = node === undefined ? '' : ` from the node ${node}`;
    const what = `cannot start: what a former one had is not removed${where} after ${settings.startDeadlineSeconds} s`;
    return this.#unavailable(name, build, what);
  }

  #unavailable(name: string, build: BuildIdentity, what: string): Stalled {
    this.#waiters.remove(name, build);
    const help = 'an administrator must look at it, then ask for a build';
    return new Stalled('BuilderUnavailable', `the builder ${name} ${what}; ${help}`);
  }
}
