import { ServerResponse, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { UpgradeRequired } from '../shared/errors.ts';
import { LongPolls } from './long-polls.ts';

/** WebSocket close code 1012 (IANA): the service restarts, and the client can reconnect. */
const serviceRestart = 1012;
/** A client that was refused an upgrade must close its connection within this time. */
const closeTimeoutMs = 10_000;

/**
 * Routes WebSocket upgrades through the same express app as every other request, so that authentication, visibility,
 * limits and errors are handled by the same code. A route calls accept() to complete the upgrade.
 */
export class WebSockets {
  readonly #logs = webSocketServer(1024);
  /** Connections that receive data. */
  readonly #sessions = webSocketServer(64 * 1024);
  /** Long polls: plain requests that stay open, and end together with the WebSockets. */
  readonly longPolls = new LongPolls();
  readonly #closing = new AbortController();
  readonly #upgrading = new WeakMap<IncomingMessage, { socket: Socket; head: Buffer }>();

  attach(server: Server, app: RequestListener): void {
    server.on('upgrade', (request, socket: Socket, head) => {
      // A broken connection also emits `close`, which is handled.
      socket.on('error', () => undefined);
      this.#upgrading.set(request, { socket, head });
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => {
        socket.end();
        // Node's timeouts do not apply to a connection that it has handed over.
        const timer = setTimeout(() => socket.resetAndDestroy(), closeTimeoutMs).unref();
        socket.once('close', () => clearTimeout(timer));
      });
      app(request, response);
    });
  }

  /** Accepts a WebSocket connection. @throws UpgradeRequired for a plain request or an invalid handshake */
  accept(
    request: IncomingMessage,
    response: ServerResponse,
    kind: 'log' | 'session' = 'log',
  ): { webSocket: WebSocket; socket: Socket } {
    const upgrading = this.#upgrading.get(request);
    if (!upgrading)
      throw new UpgradeRequired('this address accepts only WebSocket connections. Connect with a WebSocket client');
    const { socket, head } = upgrading;
    const accepted: WebSocket[] = [];
    const server = kind === 'log' ? this.#logs : this.#sessions;
    server.handleUpgrade(request, socket, head, (webSocket) => accepted.push(webSocket));
    const [webSocket] = accepted;
    if (!webSocket)
      throw new UpgradeRequired(
        'the WebSocket handshake is not valid. Check the client, or the proxy in front of the API',
      );
    response.statusCode = 101;
    response.detachSocket(socket);
    // Lets listeners of the response, such as the access log, see the end of the request.
    socket.once('close', () => response.emit('close'));
    return { webSocket, socket };
  }

  /** Aborts when the server shuts down, so that event streams, which are plain responses, end as well. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Closes all connections with a reason that asks clients to reconnect. */
  close(): void {
    this.longPolls.close();
    this.#closing.abort();
    for (const client of this.#logs.clients) {
      client.close(serviceRestart, 'the server is restarting. Reconnect; use ?from= to continue a log');
    }
    for (const client of this.#sessions.clients) {
      client.close(serviceRestart, 'the server is restarting, which ends the session. Start it again');
    }
  }

  /** Terminates the remaining connections. */
  terminate(): void {
    for (const client of [...this.#logs.clients, ...this.#sessions.clients]) client.terminate();
  }
}

function webSocketServer(maxPayload: number): WebSocketServer {
  const server = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false });
  // With this listener, ws does not respond to an invalid handshake itself: accept() throws, and the response is JSON.
  server.on('wsClientError', () => undefined);
  return server;
}
