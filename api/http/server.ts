import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { answerUnreadable } from './unreadable-requests.ts';
import { isWebSocketUpgrade, type WebSockets } from './web-sockets.ts';

/** Longer than what proxies keep an idle connection for, so that none uses one that is just being closed. */
const keepAliveTimeoutMs = 120_000;
/** A client that sends its request more slowly would hold memory for it too long. */
const requestTimeoutMs = 60_000;

/** Serves the app. @returns the server and the port it listens on. */
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

/** Takes no new connection, sends WebSocket clients away, and lets requests end; cuts what is left after `graceMs`. */
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
