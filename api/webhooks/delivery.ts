import type { PullRequestEvent } from '../../crds/pull-request-events.ts';

/** What a Git host has sent, before anything of it is believed. */
export interface RawDelivery {
  /** By its name in lower case. */
  header: (name: string) => string | undefined;
  body: Buffer;
}

/** What a delivery says. */
export interface Delivery {
  /** Whether the refs or the pull requests may have changed. Pings, comments and Coppice's own statuses say no such thing. */
  asksForSync: boolean;
  /** It is a repetition when one of these was seen before. */
  ids: string[];
  /** For how long, in milliseconds; REPLAY_WINDOW_MS by default. */
  knownForMs?: number;
  pullRequest?: PullRequestEvent;
  /** When that was so, in Unix milliseconds, where the host says. */
  pullRequestAt?: number;
}

/** How one kind of Git host signs and writes its deliveries. */
export interface DeliveryForm {
  /** Whether whoever sent it knows the secret; takes the same time whatever is wrong. `now` in Unix milliseconds. */
  isSigned(raw: RawDelivery, secret: string, now: number): boolean;
  /** Reads what is rightly signed. @throws Invalid */
  read(raw: RawDelivery): Delivery;
}
