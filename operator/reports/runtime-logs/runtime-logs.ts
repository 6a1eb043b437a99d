import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { runtimeLogKeys } from '../../../build-logs/keys.ts';
import {
  parseFollowRequest,
  refuseFollowRequest,
  type FollowRequest,
  FOLLOW_CHANNEL,
} from '../../../build-logs/follow-request.ts';
import { RuntimeLogWriter, type RuntimeLogWriterRedis } from '../../../build-logs/runtime-writer.ts';
import type { Environment } from '../../../crds/environment.ts';
import { idOf } from '../../../crds/ids.ts';
import { LABELS } from '../../../crds/labels.ts';
import type { FlowOwner } from '../../../fair-queue/fair-queue.ts';
import type { ClusterClient } from '../../../kubernetes/client.ts';
import type { Informer } from '../../../kubernetes/informer.ts';
import type { Pod } from '../../../kubernetes/resource-type.ts';
import { ServiceFollower } from './service-follower.ts';

export interface RuntimeLogsOptions {
  client: Pick<ClusterClient, 'podLog'>;
  pods: Pick<Informer<Pod>, 'byIndex'>;
  environments: Pick<Informer<Environment>, 'get'>;
  /** Returns the namespace of an environment's contents. */
  namespaceOf: (environment: Environment) => string;
  /** Returns who the logs of a group's services count for. */
  ownerOf: (group: string) => FlowOwner;
  redis: RuntimeLogWriterRedis & { exists(key: string): Promise<number> };
  now: () => Date;
  logger: Logger;
  /** Maximum number of services that are followed concurrently; each costs one connection per pod. Default 200. */
  maxFollowed?: number;
  /** Maximum for one group, so that a group cannot use all slots. Default 40. */
  maxFollowedOfGroup?: number;
  /** Maximum for all groups of one account. Default 100. */
  maxFollowedOfTenant?: number;
}

export interface FollowSubscriber {
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
}

/** How often expired follow requests are removed, in milliseconds. */
const checkMs = 4000;
const restartMs = 1000;
const defaultMaxFollowed = 200;
const defaultMaxFollowedOfGroup = 40;
const defaultMaxFollowedOfTenant = 100;

interface Followed {
  owner: FlowOwner;
  followRequest: FollowRequest;
  namespace: string;
  follower: ServiceFollower;
}

/** Follows the services whose logs are being read (ADR 16). Runs in the leading operator. */
export class RuntimeLogs {
  readonly #options: RuntimeLogsOptions;
  readonly #followed = new Map<string, Followed>();
  /** Owners of the logs that are being opened. */
  readonly #opening = new Map<string, FlowOwner>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: RuntimeLogsOptions) {
    this.#options = options;
  }

  /** Listens for follow requests on a connection of its own. */
  start(subscriber: FollowSubscriber): void {
    this.#timer = setInterval(() => void this.#check(), checkMs);
    void this.#listen(subscriber);
  }

  /** Handles a change of a pod. */
  follow({ metadata }: Pod): void {
    for (const { followRequest, namespace, follower } of this.#followed.values()) {
      if (namespace === metadata.namespace && metadata.labels?.[LABELS.service] === followRequest.service)
        follower.check();
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const [key, { follower }] of this.#followed) this.#drop(key, follower);
  }

  /** Subscribes, and retries until that succeeds; after that the connection renews the subscription itself. */
  async #listen(subscriber: FollowSubscriber): Promise<void> {
    while (!this.#isStopped) {
      try {
        await subscriber.subscribe(FOLLOW_CHANNEL, (text) => this.#take(text));
        return;
      } catch (error) {
        this.#options.logger.debug({ err: error }, 'follow requests cannot be received yet');
        await delay(restartMs);
      }
    }
  }

  #take(text: string): void {
    const { logger } = this.#options;
    try {
      const followRequest = parseFollowRequest(text);
      this.#open(followRequest).catch((error: unknown) =>
        logger.warn({ err: error }, 'the log of a service cannot be followed'),
      );
    } catch (error) {
      logger.warn({ err: error }, 'a follow request is not valid');
    }
  }

  async #open(followRequest: FollowRequest): Promise<void> {
    const { environments, namespaceOf, ownerOf, pods, redis, now, logger, client } = this.#options;
    const key = `${followRequest.uid}/${followRequest.service}`;
    const environment = environments.get(followRequest.environment);
    if (this.#followed.has(key) || this.#opening.has(key) || environment?.metadata.uid !== followRequest.uid) return;
    if (this.#isStopped) return;
    const owner = ownerOf(idOf(environment).group);
    if (!this.#hasSlotFor(owner)) {
      logger.warn({ service: key }, 'a follow request is refused: too many services are being followed');
      await refuseFollowRequest(redis, followRequest);
      return;
    }
    this.#opening.set(key, owner);
    try {
      const namespace = namespaceOf(environment);
      const writer = await RuntimeLogWriter.open(redis, followRequest, now());
      const follower = new ServiceFollower({
        client,
        writer,
        service: followRequest.service,
        pods: () => pods.byIndex('namespace', namespace),
        onFailed: (error) => {
          logger.info({ err: error, service: key }, 'following the log of a service is restarted');
          this.#followed.delete(key);
          void delay(restartMs).then(() => this.#take(JSON.stringify(followRequest)));
        },
        now: () => now().getTime(),
        logger,
      });
      this.#followed.set(key, { owner, followRequest, namespace, follower });
      void follower.start();
    } finally {
      this.#opening.delete(key);
    }
  }

  #hasSlotFor({ group, tenant }: FlowOwner): boolean {
    const { maxFollowed, maxFollowedOfGroup, maxFollowedOfTenant } = this.#options;
    const owners = [...this.#opening.values(), ...[...this.#followed.values()].map(({ owner }) => owner)];
    return (
      owners.length < (maxFollowed ?? defaultMaxFollowed) &&
      owners.filter((other) => other.group === group).length < (maxFollowedOfGroup ?? defaultMaxFollowedOfGroup) &&
      owners.filter((other) => other.tenant === tenant).length < (maxFollowedOfTenant ?? defaultMaxFollowedOfTenant)
    );
  }

  async #check(): Promise<void> {
    for (const [key, { followRequest, follower }] of this.#followed) {
      try {
        if (
          (await this.#options.redis.exists(runtimeLogKeys(followRequest.uid, followRequest.service).followRequest)) ===
          0
        ) {
          this.#drop(key, follower);
        } else await follower.touch();
      } catch (error) {
        this.#options.logger.debug({ err: error }, 'Redis cannot be asked whether a log is still read');
      }
    }
  }

  #drop(key: string, follower: ServiceFollower): void {
    this.#followed.delete(key);
    follower
      .stop()
      .catch((error: unknown) => this.#options.logger.debug({ err: error }, 'the end of a log cannot be recorded'));
  }
}
