import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { keepAlive } from './keepalive.ts';

/** Close codes of a log stream. 1000 and 1011 are those of RFC 6455; the others are from the range for applications. */
export const CLOSE = {
  ended: 1000,
  failed: 1011,
  unauthorized: 4401,
  gone: 4404,
  noBuild: 4408,
  lost: 4410,
} as const;

export interface AcceptedSocket {
  webSocket: WebSocket;
  socket: Socket;
}

export interface LogSocketOptions {
  /** Whether the caller can still read the log. */
  canRead: () => Promise<boolean>;
  /** Interval of the pings. Default 30 s. */
  keepaliveMs?: number | undefined;
  /** Interval of the calls of canRead(). Default 30 s. */
  checkMs?: number | undefined;
  logger: Logger;
}

/**
 * Runs a log stream over an accepted WebSocket: keeps it alive, ends it when the caller's permission ends, and closes
 * it with 1011 when `stream` throws. The signal of `stream` is aborted when the connection has closed. Never throws.
 */
export async function serveLog(
  { webSocket, socket }: AcceptedSocket,
  { canRead, keepaliveMs = 30_000, checkMs = 30_000, logger }: LogSocketOptions,
  stream: (closed: AbortSignal) => Promise<void>,
): Promise<void> {
  const closed = new AbortController();
  webSocket.once('close', () => closed.abort());
  // A broken frame or connection: the close event that follows is enough.
  webSocket.on('error', () => undefined);
  keepAlive(webSocket, socket, keepaliveMs);
  closeWhenForbidden(webSocket, canRead, checkMs, logger);
  try {
    await stream(closed.signal);
  } catch (error) {
    if (closed.signal.aborted) return;
    logger.error({ err: error }, 'a log stream failed');
    webSocket.close(CLOSE.failed, 'the log cannot be read: the log store failed. Reconnect with ?from=');
  }
}

/** Closes a stream when the login or membership that permitted it ends. */
function closeWhenForbidden(
  webSocket: WebSocket,
  canRead: () => Promise<boolean>,
  intervalMs: number,
  logger: Logger,
): void {
  const timer = setInterval(() => {
    canRead().then(
      (may) => {
        if (!may)
          webSocket.close(
            CLOSE.unauthorized,
            'the token is no longer valid, or does not permit reading this log. Log in again',
          );
      },
      (error: unknown) => logger.warn({ err: error }, 'the permission to read a log stream cannot be checked'),
    );
  }, intervalMs);
  webSocket.once('close', () => clearInterval(timer));
}
