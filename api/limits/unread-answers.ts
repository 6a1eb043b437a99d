import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Release } from './memory-budget.ts';

/** Shorter responses fit into the receive buffer of the client's kernel, or of the proxy's. */
const minWatchedBytes = 32 * 1024;
/** A client has this time to read a response, and one second more for each 64 KiB. */
const graceMs = 10_000;
const minBytesPerSecond = 64 * 1024;

/** Connections that close when the client has read the last response. */
const closing = new WeakSet<Socket>();

type Exchange = { request: Pick<IncomingMessage, 'socket'>; response: ServerResponse };

/** Returns how long a client has to read a response of this length, in milliseconds. */
export function readDeadlineMs(bytes: number): number {
  return graceMs + (1000 * bytes) / minBytesPerSecond;
}

/**
 * Calls `release` when the client has read the response or has disconnected. Call it before the headers are sent.
 *
 * The kernel buffers megabytes for a client that reads nothing, and Node then reports the response as finished. HTTP has
 * no acknowledgment, but a client that receives `Connection: close` closes the connection when it has read the response.
 * A client that does not is disconnected by a reset, which discards the kernel's buffer.
 * @param bytes maximum number of unread bytes when Node reports the response as finished
 */
export function releaseWhenRead({ request, response }: Exchange, bytes: number, release: Release): void {
  const { socket } = request;
  if (bytes < minWatchedBytes || socket.destroyed) {
    response.once('close', release);
    return;
  }
  response.setHeader('Connection', 'close');
  // By default Node closes the socket when the kernel has all bytes, and can no longer see whether they are read.
  socket.destroySoon = () => socket.end();
  const cut = () => socket.resetAndDestroy();
  // Before Node's own listener, which ends the socket: a socket that is being shut down cannot be reset, and never closes.
  socket.prependOnceListener('end', cut);
  let timer: NodeJS.Timeout | undefined;
  response.once('finish', () => {
    closing.add(socket);
    socket.setTimeout(0);
    timer = setTimeout(cut, readDeadlineMs(bytes)).unref();
  });
  socket.once('close', () => {
    clearTimeout(timer);
    release();
  });
}

/** Disconnects a client that sends a request after its last response. Returns whether it did. */
export function cutIfClosing({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  if (!closing.has(socket)) return false;
  socket.resetAndDestroy();
  return true;
}
