import { ServerResponse, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { UpgradeRequired } from './errors.ts';
import { LongPolls } from './long-polls.ts';

/** IANA's WebSocket close codes: the service restarts, connect again. */
const serviceRestart = 1012;

/** For the HTTP server's option `shouldUpgradeCallback`: any other upgrade is answered as if it had not been asked. */
export function isWebSocketUpgrade({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Upgrades go through the same express app as every other request, so that authentication, visibility, limits and
 * errors are the same lines of code; a route that takes WebSockets calls accept().
 */
export class WebSockets {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: 1024, perMessageDeflate: false });
  /** Plain requests that stay open: they end when WebSockets do. */
  readonly longPolls = new LongPolls();
  readonly #upgrading = new WeakMap<IncomingMessage, { socket: Socket; head: Buffer }>();

  constructor() {
    // With a listener ws leaves a broken handshake to us: accept() throws, and the answer is JSON as all others.
    this.#server.on('wsClientError', () => undefined);
  }

  attach(server: Server, app: RequestListener): void {
    server.on('upgrade', (request, socket: Socket, head) => {
      // A connection that breaks is seen as its close.
      socket.on('error', () => undefined);
      this.#upgrading.set(request, { socket, head });
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once('finish', () => socket.end());
      app(request, response);
    });
  }

  /** @throws UpgradeRequired for a plain request, and for a handshake that is not a WebSocket's. */
  accept(request: IncomingMessage, response: ServerResponse): { webSocket: WebSocket; socket: Socket } {
    const upgrading = this.#upgrading.get(request);
    if (!upgrading) throw new UpgradeRequired('this address answers WebSocket connections only');
    const { socket, head } = upgrading;
    const accepted: WebSocket[] = [];
    this.#server.handleUpgrade(request, socket, head, (webSocket) => accepted.push(webSocket));
    const [webSocket] = accepted;
    if (!webSocket) throw new UpgradeRequired('the WebSocket handshake is not valid');
    response.statusCode = 101;
    response.detachSocket(socket);
    // For whoever waits for the end of the request, such as the access log.
    socket.once('close', () => response.emit('close'));
    return { webSocket, socket };
  }

  /** Reports all clients to come again. */
  close(): void {
    this.longPolls.close();
    for (const client of this.#server.clients) {
      client.close(serviceRestart, 'the server is restarting. Reconnect; use ?from= to continue a log');
    }
  }

  /** Cuts the clients that are still there. */
  terminate(): void {
    for (const client of this.#server.clients) client.terminate();
  }
}
