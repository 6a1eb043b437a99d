import { WebSocket } from 'ws';
import { CHANNEL, CLOSE, dataFrames, type ClientMessage, type ServerMessage } from '../../shell-protocol/frames.ts';
import { ReceiveWindow, SendWindow } from '../../shell-protocol/windows.ts';
import { CliError, notSignedIn } from '../errors.ts';
import type { Client, SendOptions } from './client.ts';
import { HANDSHAKE_TIMEOUT_MS, localhostLookup } from './http.ts';
import { endWhenSilent } from './silence.ts';

export interface PodSessionOptions {
  client: Client;
  path: string;
  query?: SendOptions['query'];
  /** Called with data in order; the next data follows when it resolves. */
  onData: (channel: number, bytes: Uint8Array) => Promise<void>;
  handshakeTimeoutMs?: number;
}

/** How a session ended. */
export type Ended = Extract<ServerMessage, { exit: object } | { end: true }>;

/** A connection into a container: a command, or one forwarded connection. */
export class PodSession {
  /** Resolves when the session has started. @throws CliError */
  readonly started: Promise<unknown>;
  /** Resolves when the session has ended and all data was processed. @throws CliError */
  readonly ended: Promise<Ended>;
  readonly #socket: WebSocket;
  readonly #options: PodSessionOptions;
  readonly #toServer = new SendWindow();
  readonly #fromServer = new ReceiveWindow((confirmed) => this.send({ confirmed }));
  readonly #start = Promise.withResolvers<undefined>();
  readonly #end = Promise.withResolvers<Ended>();
  readonly #closed = new AbortController();
  #data = Promise.resolve();

  private constructor(socket: WebSocket, options: PodSessionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.started = this.#start.promise;
    this.ended = this.#end.promise;
    // Both reject for the same reason, and a caller may await only one of them.
    this.started.catch(() => undefined);
    this.ended.catch(() => undefined);
    socket.on('message', (frame: Buffer, isBinary: boolean) => {
      if (isBinary) this.#receive(frame);
      // Not validated: the server that sends it defines its type (shell-protocol/frames.ts).
      else this.#control(JSON.parse(frame.toString('utf8')) as ServerMessage);
    });
    endWhenSilent(socket);
    socket.on('close', (code, reason) => {
      this.#fail(closedError(options.client, code, reason.toString('utf8')));
    });
  }

  /** Connects to the server. @throws CliError */
  static async open(options: PodSessionOptions): Promise<PodSession> {
    const { client, path, query, handshakeTimeoutMs: handshakeTimeout = HANDSHAKE_TIMEOUT_MS } = options;
    const url = client.url(path, query);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const given = { headers: client.headers, lookup: localhostLookup };
    const socket = new WebSocket(url, { ...given, handshakeTimeout, perMessageDeflate: false });
    return new Promise((resolve, reject) => {
      const session = new PodSession(socket, options);
      socket.once('open', () => resolve(session));
      socket.once('unexpected-response', (_request, response) => {
        client.refusal(response).then(reject, reject);
      });
      // After the connection is open, its close event follows.
      socket.on('error', (error) => {
        reject(new CliError(`${client.target.url} cannot be reached: ${error.message}`, undefined, { cause: error }));
      });
    });
  }

  send(message: ClientMessage): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Sends input. Resolves when more can be sent. */
  async input(bytes: Uint8Array): Promise<void> {
    for (const frame of dataFrames(CHANNEL.input, bytes)) {
      await this.#toServer.whenOpen(this.#closed.signal);
      if (this.#socket.readyState !== WebSocket.OPEN) return;
      this.#socket.send(frame);
      this.#toServer.sent(frame);
    }
  }

  close(): void {
    this.#closed.abort();
    this.#socket.close();
  }

  #receive(frame: Buffer): void {
    this.#fromServer.received(frame);
    this.#data = this.#data.then(async () => {
      await this.#options.onData(frame[0] ?? 0, frame.subarray(1));
      this.#fromServer.processed(frame);
    });
    this.#data.catch((error: unknown) => this.#fail(error));
  }

  #control(message: ServerMessage): void {
    if ('started' in message) this.#start.resolve(undefined);
    else if ('confirmed' in message) this.#toServer.confirmed(message.confirmed);
    else {
      // Data that came before it may still be written.
      this.#data.then(
        () => {
          if ('failed' in message) this.#fail(new CliError(message.failed.message));
          else this.#end.resolve(message);
          this.close();
        },
        () => undefined,
      );
    }
  }

  #fail(error: unknown): void {
    this.#start.reject(error);
    this.#end.reject(error);
    this.close();
  }
}

function closedError({ target: { url } }: Client, code: number, reason: string): CliError {
  if (code === CLOSE.unauthorized) return notSignedIn(url, true);
  return new CliError(reason === '' ? `the connection to ${url} was lost (${code}). Start again` : reason);
}
