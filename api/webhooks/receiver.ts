import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { groupNamespace, parseId } from '../../crds/ids.ts';
import { REPOSITORY_TYPES, type RepositoryType } from '../../crds/repository-source.ts';
import type { Repository } from '../../crds/repository.ts';
import { objectKey, type ObjectName } from '../../kubernetes/resource-type.ts';
import type { Caches, ClusterWriter } from '../cluster/caches.ts';
import { Unauthorized, Unavailable } from '../shared/errors.ts';
import type { ApprovalComments } from './approval-comments.ts';
import type { Delivery, RawDelivery } from './delivery.ts';
import { DELIVERY_FORMS } from './forms.ts';
import { REPLAY_WINDOW_MS, type Replays, type Taking } from './replays.ts';
import type { SyncRequests } from './sync-requests.ts';
import { webhookSecretIfAny } from './webhook-secret.ts';

/** Result of a signed delivery, which hosts show in their list of deliveries. */
export const DELIVERY_RESULTS = ['queued', 'repeated', 'ignored'] as const;
type DeliveryResult = (typeof DELIVERY_RESULTS)[number];

export interface ReceiverOptions {
  cluster: Pick<ClusterWriter, 'find'>;
  cache: Pick<Caches['repositories'], 'get'>;
  replays: Pick<Replays, 'take' | 'giveBack'>;
  /** Returns the account that created the group of a namespace; undefined if none did. */
  creatorOf: (namespace: string) => string | undefined;
  syncRequests: Pick<SyncRequests, 'ask'>;
  approvalComments: Pick<ApprovalComments, 'isAwaited' | 'note'>;
  now: () => number;
}

/** Minimum duration of a refusal, in milliseconds, so that its timing does not reveal which repositories exist. */
const refusalMs = 50;
const dayMs = 24 * 3600_000;
/** Compared with if there is no secret; the delivery is refused in any case. */
const noSecret = 'none';
/**
 * How long a secret that has signed a delivery is not read again, in milliseconds: deliveries arrive in bursts, and a
 * replaced secret is refused within a second.
 */
const rememberedMs = 1000;
const maxRemembered = 1000;

/** Receives the deliveries of Git hosts. */
export class Receiver {
  readonly #options: ReceiverOptions;
  /** Secrets that have signed a delivery, by the UID of their repository. */
  readonly #verified = new LRUCache<string, string>({ ttl: rememberedMs, max: maxRemembered });

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /**
   * Handles a delivery.
   * @throws Unauthorized unless it is signed with the secret of a repository of this type and ID; an error of the API
   * server, whether or not the repository exists
   */
  async receive(type: string, id: string, raw: RawDelivery): Promise<DeliveryResult> {
    const refusal = delay(refusalMs, undefined, { ref: false });
    const form = DELIVERY_FORMS[isType(type) ? type : 'generic'];
    const parts = parseId(id);
    const at = parts && { namespace: groupNamespace(parts.group), name: parts.name };
    const found = at && this.#find(type, at);
    const isSigned = (secret: string | undefined) => {
      const isMatch = form.isSigned(raw, secret ?? noSecret, this.#options.now());
      return isMatch && secret !== undefined;
    };
    const repository = at && (await this.#signer(at, found, isSigned, refusal));
    if (repository === undefined) {
      await refusal;
      throw new Unauthorized(
        'the delivery is not signed with the secret of such a repository. Copy address and secret from its settings',
      );
    }
    const delivery = form.read(raw);
    if (delivery.approval) return this.#noteComment(repository, delivery, delivery.approval);
    return delivery.asksForSync ? this.#carryOut(repository, delivery) : 'ignored';
  }

  /** Returns the repository if its secret signs the delivery. Every refusal computes two signatures, so that its time does not reveal which repositories exist. */
  async #signer(
    at: ObjectName,
    repository: Repository | undefined,
    isSigned: (secret: string | undefined) => boolean,
    refusal: Promise<void>,
  ): Promise<Repository | undefined> {
    const { uid = '' } = repository?.metadata ?? {};
    if (isSigned(this.#verified.get(uid))) return repository;
    const secret = await this.#secret(at, repository, refusal);
    if (!isSigned(secret) || repository === undefined || secret === undefined) return undefined;
    this.#verified.set(uid, secret);
    return repository;
  }

  /** Returns the secret. Failures take the minimum duration too. */
  async #secret(
    at: ObjectName,
    repository: Repository | undefined,
    refusal: Promise<void>,
  ): Promise<string | undefined> {
    try {
      return await webhookSecretIfAny(this.#options.cluster, at, repository);
    } catch (error) {
      await refusal;
      throw error;
    }
  }

  #find(type: string, { namespace, name }: ObjectName): Repository | undefined {
    const repository = this.#options.cache.get(objectKey(namespace, name));
    return repository?.spec.type === type && !repository.metadata.deletionTimestamp ? repository : undefined;
  }

  async #carryOut(repository: Repository, delivery: Delivery): Promise<DeliveryResult> {
    const { replays, syncRequests } = this.#options;
    const { uid = '' } = repository.metadata;
    const event = this.#eventToNote(repository, delivery);
    const taking = await this.#take(repository, delivery);
    if (taking === 'repeated') return 'repeated';
    if (taking !== 'new') {
      // An additional sync is harmless, but a replayed pull request event is not.
      await syncRequests.ask(repository);
      if (event) throw this.#tooManyDeliveries(taking);
      return 'queued';
    }
    try {
      await syncRequests.ask(repository, event);
    } catch (error) {
      await replays.giveBack(uid, delivery.ids);
      throw error;
    }
    return 'queued';
  }

  #take({ metadata }: Repository, { ids, knownForMs }: Delivery): Promise<Taking> {
    const { replays, creatorOf } = this.#options;
    const { uid = '', namespace = '' } = metadata;
    return replays.take({ repositoryUid: uid, tenant: creatorOf(namespace) ?? namespace }, ids, knownForMs);
  }

  #tooManyDeliveries(taking: 'beyondMinute' | 'beyondDay'): Unavailable {
    if (taking === 'beyondMinute') {
      const message = 'this repository had too many deliveries within a minute. Deliver it again later';
      return new Unavailable(message, { retryAfterSeconds: 60 });
    }
    const message =
      'the groups of the account that created this one had too many deliveries today. Deliver it again after midnight UTC';
    return new Unavailable(message, { retryAfterSeconds: Math.ceil((dayMs - (this.#options.now() % dayMs)) / 1000) });
  }

  /** Has the operator read a comment whose commit waits. Who wrote it, and whether they can write, is not known here. */
  async #noteComment(
    repository: Repository,
    delivery: Delivery,
    approval: NonNullable<Delivery['approval']>,
  ): Promise<DeliveryResult> {
    const { replays, approvalComments } = this.#options;
    if (!approvalComments.isAwaited(repository, approval)) return 'ignored';
    const { uid = '' } = repository.metadata;
    const taking = await this.#take(repository, delivery);
    if (taking === 'repeated') return 'repeated';
    if (taking !== 'new') throw this.#tooManyDeliveries(taking);
    try {
      await approvalComments.note(repository, approval);
    } catch (error) {
      await replays.giveBack(uid, delivery.ids);
      throw error;
    }
    return 'queued';
  }

  /**
   * Returns the pull request event to record; other hosts have a list of pull requests, which the sync reads. Ignores
   * events older than the replay window, which may be replays.
   */
  #eventToNote({ spec }: Repository, { pullRequest, pullRequestAt }: Delivery): Delivery['pullRequest'] {
    if (spec.type !== 'generic') return undefined;
    const age = this.#options.now() - (pullRequestAt ?? this.#options.now());
    return age < REPLAY_WINDOW_MS ? pullRequest : undefined;
  }
}

function isType(text: string): text is RepositoryType {
  return (REPOSITORY_TYPES as readonly string[]).includes(text);
}
