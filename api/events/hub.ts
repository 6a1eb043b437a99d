import type { Environment } from '../../crds/environment.ts';
import type { Group } from '../../crds/group.ts';
import type { Repository } from '../../crds/repository.ts';
import type { Clock } from '../../kubernetes/clock.ts';
import type { ChangeType } from '../../kubernetes/informer-cache.ts';
import type { Secret } from '../../kubernetes/resource-type.ts';
import type { FreshCaches } from '../cluster/caches.ts';
import { userName, userOf } from '../user-records/user-record.ts';
import { Backlog, type Batch } from './backlog.ts';
import { changedEnvironment, changedGroup, changedRepository, type ChangedObject } from './change.ts';
import { ChangeLog } from './change-log.ts';
import { listedNow } from './listed-now.ts';
import { CHANGE_KINDS, type ChangeKind, type Position, type Versions } from './position.ts';
import { changeEvent, idBlock, readyEvent, resetEvent } from './sse.ts';
import type { ResetReason } from './stream-event.ts';
import { Subscribers, type Subscriber } from './subscribers.ts';
import { channelsIn, channelsOf, concernedBy } from './channels.ts';

/** Minimum interval between two flushes: an object is sent at most once in it. */
export const FLUSH_MS = 100;
/** If the events of one group in a flush have more bytes, one event `reset` is sent instead of them. */
const maxBatchBytes = 128 * 1024;
/** A client that missed more changes gets an event `reset` instead of them. */
const maxMissed = 200;

export interface ChangeHubOptions {
  caches: FreshCaches;
  clock: Clock;
}

/**
 * Sends the changes of the caches to everybody who can see them. Each change is serialized once, and sent to the
 * streams of its group or repository; nothing is done for groups that nobody watches.
 */
export class ChangeHub {
  readonly #caches: FreshCaches;
  readonly #clock: Clock;
  readonly #subscribers = new Subscribers();
  readonly #backlog = new Backlog();
  readonly #logs: Readonly<Record<ChangeKind, ChangeLog>> = {
    group: new ChangeLog(),
    repository: new ChangeLog(),
    environment: new ChangeLog(),
  };
  #lastFlush = -Infinity;
  #cancelFlush: (() => void) | undefined;

  constructor({ caches, clock }: ChangeHubOptions) {
    this.#caches = caches;
    this.#clock = clock;
    caches.groups.addHandler((type, group, old) => this.#groupChanged(type, group, old));
    caches.repositories.addHandler((_type, repository) => this.#repositoryChanged(repository));
    caches.environments.addHandler((_type, environment) => this.#environmentChanged(environment));
    caches.users.addHandler((type, secret) => this.#userChanged(type, secret));
  }

  /** The position of a client to which everything has been sent. */
  get position(): Position {
    const { group, repository, environment } = this.#logs;
    const newest = { group: group.newest, repository: repository.newest, environment: environment.newest };
    return { seen: this.#seen, newest };
  }

  get #seen(): Versions {
    const { groups, repositories, environments } = this.#caches;
    return {
      group: groups.handledVersion ?? '0',
      repository: repositories.handledVersion ?? '0',
      environment: environments.handledVersion ?? '0',
    };
  }

  /** Starts to send changes, those after `from` first. */
  subscribe(subscriber: Subscriber, from: Position | undefined): void {
    this.#subscribers.add(subscriber, channelsOf(subscriber.viewer, this.#caches.groups));
    subscriber.send(Buffer.concat([...this.#greeting(subscriber, from), idBlock(this.position)]));
  }

  unsubscribe(subscriber: Subscriber): void {
    this.#subscribers.remove(subscriber);
  }

  /** Ends all streams; their clients connect to another replica. */
  close(): void {
    this.#cancelFlush?.();
    for (const subscriber of this.#subscribers.all()) subscriber.end('restart');
  }

  #greeting(subscriber: Subscriber, from: Position | undefined): Buffer[] {
    if (!from) return [resetEvent('start')];
    const missed = this.#missed(subscriber, from);
    if (typeof missed === 'string') return [resetEvent(missed)];
    const events = missed.map((object) => changeEvent(listedNow(object, this.#caches)));
    const bytes = events.reduce((sum, { length }) => sum + length, 0);
    return bytes > maxBatchBytes ? [resetEvent('gap')] : [...events, readyEvent()];
  }

  /** Returns what a client missed, or why it must load its lists again. */
  #missed({ viewer, channels }: Subscriber, from: Position): ChangedObject[] | ResetReason {
    const missed: ChangedObject[] = [];
    const seen = this.#seen;
    for (const kind of CHANGE_KINDS) {
      const changes = this.#logs[kind].after(from.seen[kind], seen[kind]);
      if (!changes) return 'gap';
      for (const { object, emails } of changes) {
        if (emails.has(viewer.user.email)) return 'membership';
        if (channels.has(object.group) || (object.repository !== undefined && channels.has(object.repository)))
          missed.push(object);
      }
    }
    return missed.length > maxMissed ? 'gap' : missed;
  }

  #groupChanged(type: ChangeType, group: Group, old: Group | undefined): void {
    const isDeleted = type === 'deleted';
    const object = changedGroup(group);
    const emails = concernedBy(group, old, isDeleted);
    this.#logs.group.add(object, group.metadata.resourceVersion, this.#seen.group, emails);
    if (isDeleted) {
      const bytes = changeEvent({ kind: 'group', id: object.id, change: 'deleted' });
      for (const subscriber of this.#subscribers.of(object.group)) subscriber.send(bytes);
    }
    for (const email of emails) {
      for (const subscriber of this.#subscribers.ofUser(userName(email))) {
        this.#reconsider(subscriber, group, isDeleted);
      }
    }
    if (!isDeleted) this.#queue(object);
  }

  #repositoryChanged(repository: Repository): void {
    const object = changedRepository(repository);
    if (!object) return;
    this.#logs.repository.add(object, repository.metadata.resourceVersion, this.#seen.repository, []);
    this.#queue(object);
  }

  #environmentChanged(environment: Environment): void {
    const object = changedEnvironment(environment);
    if (!object) return;
    this.#logs.environment.add(object, environment.metadata.resourceVersion, this.#seen.environment, []);
    this.#queue(object);
  }

  #userChanged(type: ChangeType, secret: Secret): void {
    const user = type === 'deleted' ? undefined : userOf(secret);
    for (const subscriber of this.#subscribers.ofUser(secret.metadata.name)) {
      if (!subscriber.userChanged(user)) continue;
      const channels = new Set(channelsOf(subscriber.viewer, this.#caches.groups));
      if (this.#change(subscriber, [...subscriber.channels], [...channels])) subscriber.send(resetEvent('membership'));
    }
  }

  /** Applies a change of a group to what a subscriber reads. */
  #reconsider(subscriber: Subscriber, group: Group, isDeleted: boolean): void {
    const { group: channel } = changedGroup(group);
    const before = [...subscriber.channels].filter((one) => one === channel || one.startsWith(`${channel}/`));
    const after = isDeleted ? [] : channelsIn(group, subscriber.viewer);
    if (!this.#change(subscriber, before, after) || isDeleted) return;
    // A group without repositories needs no reload: its own change is sent, and it contains nothing else.
    const isNew = before.length === 0 && this.#caches.repositories.byIndex('namespace', channel).length === 0;
    if (!isNew) subscriber.send(resetEvent('membership'));
  }

  /** Returns whether anything differs. */
  #change(subscriber: Subscriber, before: readonly string[], after: readonly string[]): boolean {
    const lost = before.filter((channel) => !after.includes(channel));
    const gained = after.filter((channel) => !before.includes(channel));
    this.#subscribers.leave(subscriber, lost);
    this.#subscribers.read(subscriber, gained);
    return lost.length + gained.length > 0;
  }

  #queue(object: ChangedObject): void {
    if (!this.#subscribers.has(object.group) && !this.#subscribers.has(object.repository)) return;
    this.#backlog.add(object, this.#clock.now());
    this.#schedule();
  }

  #schedule(): void {
    const now = this.#clock.now();
    const at = this.#backlog.nextAt(now);
    if (this.#cancelFlush || at === undefined) return;
    const wait = Math.max(at, this.#lastFlush + FLUSH_MS) - now;
    this.#cancelFlush = this.#clock.setTimeout(() => this.#flush(), Math.max(0, wait));
  }

  #flush(): void {
    this.#cancelFlush = undefined;
    const now = this.#clock.now();
    this.#lastFlush = now;
    const byChannel = new Map<string, Buffer[]>();
    for (const batch of this.#backlog.take(now)) this.#encode(batch, byChannel, now);
    this.#send(byChannel);
    this.#schedule();
  }

  /** Adds the events of a batch to the channels in which they can be read. */
  #encode({ group, objects, isReset }: Batch, byChannel: Map<string, Buffer[]>, now: number): void {
    const add = (channel: string | undefined, bytes: Buffer) => {
      if (channel === undefined || !this.#subscribers.has(channel)) return;
      byChannel.set(channel, [...(byChannel.get(channel) ?? []), bytes]);
    };
    if (isReset) {
      for (const channel of this.#subscribers.channelsIn(group)) add(channel, resetEvent('many'));
      return;
    }
    let bytes = 0;
    const events = objects.map((object) => {
      const event = changeEvent(listedNow(object, this.#caches));
      bytes += event.length;
      return { object, event };
    });
    if (bytes > maxBatchBytes) {
      this.#backlog.replace(group, now);
      return;
    }
    for (const { object, event } of events) {
      add(object.group, event);
      add(object.repository, event);
    }
  }

  #send(byChannel: ReadonlyMap<string, Buffer[]>): void {
    // A client that continues after this position must not miss what is still to be sent.
    const end = this.#backlog.isEmpty ? [idBlock(this.position)] : [];
    const whole = new Map([...byChannel].map(([channel, events]) => [channel, Buffer.concat(events)] as const));
    const single = new Map([...whole].map(([channel, bytes]) => [channel, Buffer.concat([bytes, ...end])] as const));
    const channels = [...whole.keys()];
    for (const subscriber of new Set(channels.flatMap((channel) => [...this.#subscribers.of(channel)]))) {
      const read = channels.filter((channel) => subscriber.channels.has(channel));
      const [only = ''] = read;
      const parts = read.map((channel) => whole.get(channel) ?? Buffer.alloc(0));
      // Most clients read one of the channels: they share its bytes.
      subscriber.send((read.length === 1 ? single.get(only) : undefined) ?? Buffer.concat([...parts, ...end]));
    }
  }
}
