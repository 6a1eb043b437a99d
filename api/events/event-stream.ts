import type { Response } from 'express';
import type { Caller } from '../auth/caller.ts';
import type { User } from '../user-records/user-record.ts';
import { closeEvent, retryBlock } from './sse.ts';
import type { CloseReason } from './stream-event.ts';
import type { Subscriber } from './subscribers.ts';

/** A client with more unread bytes in this process is disconnected: the kernel's buffer is full. */
const maxBuffered = 64 * 1024;
/** The next connection is made at once, except after an error: then clients must not all come back together. */
const rotateRetryMs = 50;

export interface EventStreamOptions {
  caller: Caller;
  response: Response;
  /** Whether a user's record still has the caller's token; true for a login. */
  hasToken: (user: User) => boolean;
  /** Called with the number of bytes after each write. */
  onSent: (stream: EventStream, bytes: number) => void;
  /** Called when the last event has been written; the client may not have read it. */
  onEnd: () => void;
}

/** One client's stream of server-sent events. */
export class EventStream implements Subscriber {
  readonly channels = new Set<string>();
  readonly #options: EventStreamOptions;
  #caller: Caller;
  #sentBytes = 0;
  #hasEnded = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#caller = options.caller;
  }

  get viewer(): Caller {
    return this.#caller;
  }

  /** Bytes that the client has not proven to have read: HTTP has no other proof than a new connection. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  userChanged(user: User | undefined): boolean {
    if (user?.accountId !== this.#caller.user.accountId || !this.#options.hasToken(user)) {
      this.end('unauthorized');
      return false;
    }
    this.#caller = { ...this.#caller, user };
    return true;
  }

  send(bytes: Buffer): void {
    if (this.#hasEnded) return;
    const { response, onSent } = this.#options;
    response.write(bytes);
    this.#sentBytes += bytes.length;
    if (response.writableLength > maxBuffered) {
      this.#hasEnded = true;
      response.destroy();
    }
    onSent(this, bytes.length);
  }

  end(reason: CloseReason): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const last = [...(reason === 'rotate' ? [retryBlock(rotateRetryMs)] : []), closeEvent(reason)];
    this.#options.response.end(Buffer.concat(last));
    this.#options.onEnd();
  }
}
