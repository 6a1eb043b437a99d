import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { keepAlive } from './keepalive.ts';

/** How a log stream ends. 1000 and 1011 are RFC 6455's; the others are ours, from the range for applications. */
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
  /** Whether the caller may still read: asked again at every ping. */
  mayRead: () => Promise<boolean>;
  keepaliveMs: number;
  logger: Logger;
}

/**
 * Runs a log stream over an accepted WebSocket: kept alive, ended when the caller may read no more, and closed with
 * 1011 when `stream` throws. `stream` gets a signal that the connection has closed. Never throws.
 */
export async function serveLog(
  { webSocket, socket }: AcceptedSocket,
  { mayRead, keepaliveMs, logger }: LogSocketOptions,
  stream: (closed: AbortSignal) => Promise<void>,
): Promise<void> {
  const closed = new AbortController();
  webSocket.once('close', () => closed.abort());
  // A broken frame from the client, or a broken connection: the close that follows says enough.
  webSocket.on('error', () => undefined);
  keepAlive(webSocket, socket, keepaliveMs);
  closeWhenForbidden(webSocket, mayRead, keepaliveMs, logger);
  try {
    await stream(closed.signal);
  } catch (error) {
    if (closed.signal.aborted) return;
    logger.error({ err: error }, 'a log stream failed');
    webSocket.close(CLOSE.failed, 'the log cannot be read now; connect again, with ?from=');
  }
}

/** A login that ends, and a membership, end the streams that they opened. */
function closeWhenForbidden(
  webSocket: WebSocket,
  mayRead: () => Promise<boolean>,
  intervalMs: number,
  logger: Logger,
): void {
  const timer = setInterval(() => {
    mayRead().then(
      (may) => {
        if (!may) webSocket.close(CLOSE.unauthorized, 'the token is not valid any more, or may not read this');
      },
      (error: unknown) => logger.warn({ err: error }, 'cannot tell whether a log stream may go on'),
    );
  }, intervalMs);
  webSocket.once('close', () => clearInterval(timer));
}
