import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { answerUnreadable } from './unreadable-requests.ts';
import { isWebSocketUpgrade } from '../shared/web-socket-upgrade.ts';
import type { WebSockets } from './web-sockets.ts';

/** Longer than proxies keep idle connections, so that no proxy sends a request on a connection that is being closed. */
const keepAliveTimeoutMs = 120_000;
/** Limits how long a slow client can hold memory. */
const requestTimeoutMs = 60_000;

/** Starts to serve the app. @returns the server and its port */
export async function startServer(
  app: Express,
  webSockets: WebSockets,
  port: number,
): Promise<{ server: Server; port: number }> {
  const options = {
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    shouldUpgradeCallback: isWebSocketUpgrade,
  };
  const server = createServer(options, app);
  answerUnreadable(server);
  webSockets.attach(server, app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/**
 * Stops accepting connections, closes WebSockets, waits for requests to end, and after `graceMs` closes all remaining
 * connections.
 */
export async function stopServer(server: Server, webSockets: WebSockets, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  webSockets.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => {
    server.closeAllConnections();
    webSockets.terminate();
  }, graceMs);
  await closed;
  clearTimeout(timer);
}
