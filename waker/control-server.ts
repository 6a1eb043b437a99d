import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { shakeHands } from '../waker-protocol/handshake.ts';
import { jsonLines, sendLine } from '../waker-protocol/lines.ts';
import { operatorMessageSchema, type OperatorMessage, type WakerMessage } from '../waker-protocol/messages.ts';

/** A connection that has not proved that it is the operator's by then is closed. */
const handshakeMs = 5000;
/** Only the leading operator connects; others could only be strangers. */
const maxConnections = 16;
const keepAliveMs = 10_000;

export interface ControlServerOptions {
  key: string;
  /** Returns what receives the messages of a new connection. */
  onConnected: () => (message: OperatorMessage) => void;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** Receives what the operator knows, and sends it the visits. */
export class ControlServer {
  readonly #options: ControlServerOptions;
  readonly #server: Server;
  readonly #operators = new Set<Socket>();

  constructor(options: ControlServerOptions) {
    this.#options = options;
    this.#server = createServer({ keepAlive: true, keepAliveInitialDelay: keepAliveMs, noDelay: true }, (socket) => {
      void this.#serve(socket);
    });
    this.#server.maxConnections = maxConnections;
  }

  /** @returns the port */
  start(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  async stop(): Promise<void> {
    for (const socket of this.#operators) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Sends to the operator. Returns whether one is connected. */
  send(message: WakerMessage): boolean {
    for (const socket of this.#operators) sendLine(socket, message);
    return this.#operators.size > 0;
  }

  async #serve(socket: Socket): Promise<void> {
    const { key, onConnected, logger } = this.#options;
    const timer = setTimeout(() => socket.destroy(), handshakeMs);
    try {
      socket.on('error', () => socket.destroy());
      const lines = jsonLines(socket);
      await shakeHands('waker', socket, lines, key);
      clearTimeout(timer);
      this.#operators.add(socket);
      logger.info({ from: socket.remoteAddress }, 'the operator has connected');
      const receive = onConnected();
      for await (const line of lines) receive(operatorMessageSchema.parse(line));
    } catch (error) {
      logger.warn({ err: error, from: socket.remoteAddress }, 'a connection of an operator has ended');
    } finally {
      clearTimeout(timer);
      this.#operators.delete(socket);
      socket.destroy();
    }
  }
}
