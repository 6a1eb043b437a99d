import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { sleep, type Clock } from '../../kubernetes/clock.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Caller } from '../auth/caller.ts';
import { EVENT_STREAM } from '../http/request-metrics.ts';
import { readDeadlineMs, releaseWhenRead } from '../limits/unread-answers.ts';
import type { Viewers } from '../limits/viewers.ts';
import type { RandomBytes } from '../shared/tokens.ts';
import { EventStream } from './event-stream.ts';
import type { ChangeHub } from './hub.ts';
import type { Position } from './position.ts';
import { heartbeat, retryBlock } from './sse.ts';

const heartbeatMs = 15_000;
/** A client connects again after this many bytes, which proves that it has read them. */
const rotateBytes = 256 * 1024;
/** Maximum number of bytes of all clients that may be unread: the kernel holds them, in the memory of the pod. */
const maxUnreadBytes = 64 * 1024 * 1024;
/** Clients of a replica that ends connect again within this time, each at its own. */
const maxRetryMs = 2000;

export interface EventStreamsOptions {
  hub: ChangeHub;
  viewers: Pick<Viewers, 'take'>;
  authenticator: Pick<Authenticator, 'stillValid' | 'hasToken'>;
  clock: Clock;
  randomBytes: RandomBytes;
  logger: Pick<Logger, 'warn'>;
}

/** Opens the streams of this replica, and bounds what they hold. */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  /** Streams whose client has not closed the connection, including streams that this side has ended. */
  readonly #open = new Set<EventStream>();
  #unreadBytes = 0;
  #warnedAt = -Infinity;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  /** Serves a stream until it ends. @throws TooManyRequests, Unavailable before the response starts */
  open({ request, response, caller }: { request: Request; response: Response; caller: Caller }, from?: Position): void {
    const { hub, viewers, authenticator } = this.#options;
    const release = viewers.take(caller.user.accountId);
    const closed = new AbortController();
    const stream = new EventStream({
      caller,
      response,
      hasToken: (user) => authenticator.hasToken(user, caller.credential),
      onSent: (sender, bytes) => this.#sent(sender, bytes),
      onEnd: () => void this.#cutLate(request, closed.signal),
    });
    response.once('close', () => {
      closed.abort();
      hub.unsubscribe(stream);
    });
    releaseWhenRead({ request, response }, rotateBytes, () => {
      release();
      this.#open.delete(stream);
      this.#unreadBytes -= stream.sentBytes;
    });
    this.#open.add(stream);
    response.status(200).set({ 'Content-Type': EVENT_STREAM, 'X-Accel-Buffering': 'no' });
    stream.send(retryBlock(this.#retryMs()));
    hub.subscribe(stream, from);
    void this.#keepAlive(stream, caller, closed.signal);
  }

  #sent(stream: EventStream, bytes: number): void {
    this.#unreadBytes += bytes;
    if (stream.sentBytes > rotateBytes) stream.end('rotate');
    if (this.#unreadBytes <= maxUnreadBytes) return;
    const live = [...this.#open].filter(({ hasEnded }) => !hasEnded);
    const [first] = live.sort((a, b) => b.sentBytes - a.sentBytes);
    first?.end('rotate');
  }

  /** Sends heartbeats, and ends the stream when its login or token has ended. */
  async #keepAlive(stream: EventStream, { credential }: Caller, signal: AbortSignal): Promise<void> {
    const { hub, authenticator, clock } = this.#options;
    for (;;) {
      await sleep(clock, heartbeatMs, signal);
      if (signal.aborted || stream.hasEnded) return;
      try {
        if (!(await authenticator.stillValid(credential))) stream.end('unauthorized');
      } catch (error) {
        this.#warn(error);
      }
      stream.send(heartbeat(hub.position));
    }
  }

  /** Disconnects a client that reads nothing, so that not even the last event can be sent. */
  async #cutLate({ socket }: Request, signal: AbortSignal): Promise<void> {
    await sleep(this.#options.clock, readDeadlineMs(rotateBytes), signal);
    if (!signal.aborted) socket.resetAndDestroy();
  }

  /** Without Redis all streams fail at once: one line says so for all. */
  #warn(error: unknown): void {
    const { clock, logger } = this.#options;
    if (clock.now() - this.#warnedAt < heartbeatMs) return;
    this.#warnedAt = clock.now();
    logger.warn({ err: error }, 'logins of event streams cannot be checked');
  }

  #retryMs(): number {
    return Math.round((this.#options.randomBytes(2).readUInt16BE() / 0xff_ff) * maxRetryMs);
  }
}
