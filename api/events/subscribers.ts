import type { Viewer } from '../auth/caller.ts';
import type { CloseReason } from './stream-event.ts';

/** An open stream, as the hub sees it. */
export interface Subscriber {
  readonly viewer: Viewer;
  /** Channels that it reads; only Subscribers changes them. */
  readonly channels: Set<string>;
  /**
   * Applies a change of the user's record; undefined if the account is gone. Ends the stream if the record no longer has
   * its token. Returns whether the stream goes on.
   */
  userChanged(user: Viewer['user'] | undefined): boolean;
  send(bytes: Buffer): void;
  end(reason: CloseReason): void;
}

/** Finds open streams by their channels and by their users, so that a change costs nothing for other streams. */
export class Subscribers {
  readonly #byChannel = new Map<string, Set<Subscriber>>();
  readonly #byUser = new Map<string, Set<Subscriber>>();
  readonly #all = new Set<Subscriber>();

  get size(): number {
    return this.#all.size;
  }

  add(subscriber: Subscriber, channels: Iterable<string>): void {
    this.#all.add(subscriber);
    addTo(this.#byUser, subscriber.viewer.user.name, subscriber);
    this.read(subscriber, channels);
  }

  remove(subscriber: Subscriber): void {
    this.#all.delete(subscriber);
    removeFrom(this.#byUser, subscriber.viewer.user.name, subscriber);
    this.leave(subscriber, [...subscriber.channels]);
  }

  read(subscriber: Subscriber, channels: Iterable<string>): void {
    // It may have ended meanwhile.
    if (!this.#all.has(subscriber)) return;
    for (const channel of channels) {
      subscriber.channels.add(channel);
      addTo(this.#byChannel, channel, subscriber);
    }
  }

  leave(subscriber: Subscriber, channels: Iterable<string>): void {
    for (const channel of channels) {
      subscriber.channels.delete(channel);
      removeFrom(this.#byChannel, channel, subscriber);
    }
  }

  of(channel: string): ReadonlySet<Subscriber> {
    return this.#byChannel.get(channel) ?? new Set();
  }

  has(channel: string | undefined): boolean {
    return channel !== undefined && this.#byChannel.has(channel);
  }

  /** @param name of the user's record */
  ofUser(name: string): Subscriber[] {
    return [...(this.#byUser.get(name) ?? [])];
  }

  /** Returns the channels of a group that are read: its own, and those of its repositories. */
  channelsIn(group: string): string[] {
    return [...this.#byChannel.keys()].filter((channel) => channel === group || channel.startsWith(`${group}/`));
  }

  all(): Subscriber[] {
    return [...this.#all];
  }
}

function addTo(sets: Map<string, Set<Subscriber>>, key: string, subscriber: Subscriber): void {
  const there = sets.get(key);
  if (there) there.add(subscriber);
  else sets.set(key, new Set([subscriber]));
}

function removeFrom(sets: Map<string, Set<Subscriber>>, key: string, subscriber: Subscriber): void {
  const there = sets.get(key);
  there?.delete(subscriber);
  if (there?.size === 0) sets.delete(key);
}
