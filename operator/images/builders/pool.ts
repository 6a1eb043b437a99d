import type { Logger } from 'pino';
import { hostPort } from '../../shared/network-peers.ts';
import { KeyedLock } from '../../shared/keyed-lock.ts';
import { Stalled, Waiting } from '../../shared/errors.ts';
import { usedTooMuchDisk } from '../../shared/pod-parts.ts';
import { podDiagnosis } from '../../services/diagnosis/pod-diagnosis.ts';
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

export interface BuilderPoolOptions {
  builders: BuilderSet;
  settings: Pick<BuilderPoolSettings, 'startDeadlineSeconds' | 'ephemeral'>;
  /** Has the Environment under this key reconciled again. */
  enqueue: (environmentKey: string) => void;
  logger: Logger;
  now: () => Date;
}

const recheckMs = 10_000;
/** Where builds wait that need a ephemeral builder while as many as may run. */
const ephemeralQueue = 'ephemeral';

/** Gives each build the builder it may use, and starts that when it sleeps. */
export class BuilderPool {
  readonly #options: BuilderPoolOptions;
  readonly #starts = new KeyedLock();
  readonly #waiters = new Waiters();

  constructor(options: BuilderPoolOptions) {
    this.#options = options;
  }

  /**
   * The builder of a build that is recorded as running in its Environment's status; it stays until that has ended.
   * @throws Waiting until it is ready, which has the Environment reconciled again; Stalled when it does not become
   * ready, or a former one does not go, within startDeadlineSeconds, and when the build's own one was ended for the
   * disk it used.
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
      this.#requireModest(identity.name, build);
      await this.#starts.run(ephemeralQueue, () => this.#startEphemeral(identity, request));
    } else {
      await this.#startFor(request, identity);
    }
    throw this.#unready(identity.name, build);
  }

  /** Starts the group's builder for a build that is about to come; a failure is logged, acquire() will tell it. */
  warm(group: string): void {
    const { logger } = this.#options;
    this.#startOnce(groupBuilder(group)).catch((error: unknown) => {
      logger.warn({ err: error, group }, "the group's builder could not be started early");
    });
  }

  /** Takes a group's builder away, with its cache. True when nothing of it is left. */
  remove(group: string): Promise<boolean> {
    return this.#options.builders.remove(groupBuilderName(group));
  }

  /** Has those reconciled again that wait for this builder. */
  wake(name: string): void {
    for (const key of this.#waiters.take(name)) this.#options.enqueue(key);
  }

  /** Has those reconciled again that wait for a place. */
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

  /** What is left of a former builder may hold the start up, but not for ever. */
  async #startFor({ group, build }: BuilderRequest, identity: BuilderIdentity): Promise<void> {
    const { name } = identity;
    this.#waiters.add(name, group, build, this.#options.now());
    try {
      await this.#startOnce(identity);
    } catch (error) {
      throw error instanceof Waiting && this.#isOverdue(name, build) ? this.#stuck(name, build) : error;
    }
  }

  /** Of a builder that was evicted the pod is taken away; when it is gone, another one is made. */
  #startOnce(identity: BuilderIdentity): Promise<void> {
    const { builders, now } = this.#options;
    return this.#starts.run(identity.name, async () => {
      const pod = builders.pod(identity.name);
      if (!pod) await builders.start(identity);
      else if (!builders.isStopping(pod) && isReplaceable(pod, now())) await builders.stop(pod);
    });
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

  /** Another try would use as much disk again. */
  #requireModest(name: string, build: BuildIdentity): void {
    const status = this.#options.builders.pod(name)?.status;
    if (!usedTooMuchDisk(status)) return;
    this.#waiters.remove(name, build);
    throw new Stalled(
      'BuildFailed',
      `the build used more disk than permitted for untrusted code (${status?.message?.trim() ?? ''}). Reduce ` +
        'write less, or let an administrator give such builds more (chart value builder.ephemeral.storage)',
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

  /** The end of pods on a lost node, and of their volumes, is not reported. */
  #stuck(name: string, build: BuildIdentity): Stalled {
    const { builders, settings } = this.#options;
    const node = builders.pod(name)?.spec?.nodeName;
    const where = node === undefined ? '' : ` from the node ${node}`;
    const what = `cannot start: objects of a previous builder were not deleted${where} after ${settings.startDeadlineSeconds} s`;
    return this.#unavailable(name, build, what);
  }

  #unavailable(name: string, build: BuildIdentity, what: string): Stalled {
    this.#waiters.remove(name, build);
    const help = 'ask an administrator to check it, then request a build';
    return new Stalled('BuilderUnavailable', `the builder ${name} ${what}; ${help}`);
  }
}
