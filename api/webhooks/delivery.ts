import type { ApprovalComment } from '../../crds/approval-comments.ts';
import type { PullRequestEvent } from '../../crds/pull-request-events.ts';

/** A delivery as received, before its signature is verified. */
export interface RawDelivery {
  /** Returns a header by its name in lower case. */
  header: (name: string) => string | undefined;
  body: Buffer;
}

/** The content of a delivery. */
export interface Delivery {
  /** Whether refs or pull requests may have changed; false for pings, comments and Coppice's own statuses. */
  asksForSync: boolean;
  /** The delivery is a repetition if one of these was received before. */
  ids: string[];
  /** How long the IDs are remembered, in milliseconds; REPLAY_WINDOW_MS by default. */
  knownForMs?: number;
  pullRequest?: PullRequestEvent;
  /** A new comment on a pull request that consists of the command to approve this commit. */
  approval?: ApprovalComment & { commit: string };
  /** When the pull request changed, in Unix milliseconds, if the host reports it. */
  pullRequestAt?: number;
}

/** How one type of Git host signs and formats its deliveries. */
export interface DeliveryForm {
  /** Returns whether the sender knows the secret, in constant time. `now` in Unix milliseconds. */
  isSigned(raw: RawDelivery, secret: string, now: number): boolean;
  /** Parses a delivery whose signature is valid. @throws Invalid */
  read(raw: RawDelivery): Delivery;
}
