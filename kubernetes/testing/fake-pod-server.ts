import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { WebSocketServer, type WebSocket } from 'ws';

/** One connection into a pod, as the API server sees it. */
export interface PodConnection {
  socket: WebSocket;
  url: URL;
  request: IncomingMessage;
}

/** The part of an API server that connects to pods: accepts every WebSocket, or answers with a refusal. */
export class FakePodServer {
  readonly #server: Server;
  readonly #webSockets = new WebSocketServer({ noServer: true });
  readonly connections: PodConnection[] = [];
  /** Answers the next handshake with this status and body. */
  refusal: { status: number; body: object } | undefined;
  /** Called with each connection. */
  onConnect: (connection: PodConnection) => void = () => undefined;

  private constructor() {
    this.#server = createServer();
    this.#server.on('upgrade', (request, socket, head) => {
      if (this.refusal) {
        const body = JSON.stringify(this.refusal.body);
        const head = `HTTP/1.1 ${this.refusal.status} x\r\ncontent-type: application/json\r\nconnection: close`;
        socket.end(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        this.refusal = undefined;
        return;
      }
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        const connection = { socket: webSocket, url: new URL(request.url ?? '', 'http://fake'), request };
        this.connections.push(connection);
        this.onConnect(connection);
      });
    });
  }

  static async start(): Promise<FakePodServer> {
    const fake = new FakePodServer();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get config(): KubeConfig {
    const { port } = this.#server.address() as AddressInfo;
    const config = new KubeConfig();
    const cluster = { name: 'fake', server: `http://127.0.0.1:${port}`, skipTLSVerify: true };
    config.loadFromClusterAndUser(cluster, { name: 'user', token: 'secret-token' });
    return config;
  }

  async stop(): Promise<void> {
    for (const { socket } of this.connections) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
