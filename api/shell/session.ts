import type { WebSocket } from 'ws';
import {
  CHANNEL,
  CLOSE,
  MAX_FRAME_BYTES,
  type ClientMessage,
  type ServerMessage,
  type StartMessage,
  type TerminalSize,
} from '../../shell-protocol/frames.ts';
import { ReceiveWindow, SendWindow } from '../../shell-protocol/windows.ts';
import { clientMessage } from './client-message.ts';
import type { PodProtocol } from './pod-protocol.ts';

/** A client whose connection is to be closed must do so within this time. */
const closeTimeoutMs = 5000;
/** Resizes and the like; confirmations are limited by the data that they confirm. */
const maxMessagesPerSecond = 50;

export interface SessionOptions {
  client: WebSocket;
  /** A session without data for this long is closed. */
  idleMs: number;
}

/** Payload bytes in each direction. */
export interface Transferred {
  input: number;
  output: number;
}

/**
 * Connects a client to a stream of a pod. Each side is at most one window ahead of the other, so a session has a bounded
 * size, and neither connection is ever blocked for control messages.
 */
export class Session {
  readonly transferred: Transferred = { input: 0, output: 0 };
  readonly #client: WebSocket;
  readonly #idle: NodeJS.Timeout;
  readonly #closed = new AbortController();
  readonly #start = Promise.withResolvers<StartMessage['start'] | undefined>();
  readonly #toClient = new SendWindow();
  readonly #fromClient = new ReceiveWindow((confirmed) => this.#send({ confirmed }));
  #pod: { socket: WebSocket; protocol: PodProtocol } | undefined;
  #hasEnded = false;
  #isClosing = false;
  #second = { start: 0, messages: 0 };
  #reason: string | undefined;

  constructor({ client, idleMs }: SessionOptions) {
    this.#client = client;
    this.#idle = setTimeout(() => this.close(CLOSE.idle, 'the session was closed: no data for a long time'), idleMs);
    client.on('message', (data: Buffer, isBinary: boolean) => {
      // What was sent before the client learned of the end.
      if (this.#isClosing || (this.#hasEnded && isBinary)) return;
      if (isBinary) this.#data(data);
      else this.#message(data.toString('utf8'));
    });
    // A broken frame or connection: the close event that follows is enough.
    client.on('error', () => undefined);
    client.once('close', (_code, reason: Buffer) => {
      this.#reason ??= reason.length > 0 ? reason.toString('utf8') : 'the client closed the connection';
      this.#end();
      this.#closed.abort();
      this.#start.resolve(undefined);
    });
  }

  /** Aborted when the client's connection has closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Why the session ended; undefined before. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Returns what to run; undefined if the client closes the connection. */
  async start(timeoutMs: number): Promise<StartMessage['start'] | undefined> {
    const timer = setTimeout(() => this.close(CLOSE.invalid, 'the first message did not arrive in time'), timeoutMs);
    try {
      return await this.#start.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts to transfer data, from and to a paused connection. */
  connect(socket: WebSocket, protocol: PodProtocol, started: { pod: string; container: string }): void {
    if (this.#hasEnded) {
      socket.terminate();
      return;
    }
    this.#pod = { socket, protocol };
    socket.on('message', (frame: Buffer) => this.#fromPod(frame, protocol));
    socket.once('close', () => this.finish(protocol.onClose));
    this.#send({ started });
    socket.resume();
  }

  /** Sets the size of the terminal. */
  resize(size: TerminalSize): void {
    if (!this.#pod) return;
    const frame = this.#pod.protocol.resized?.(size);
    if (frame) this.#pod.socket.send(frame);
  }

  /** Sends the last message, after all data; the client then closes the connection. */
  finish(last: ServerMessage): void {
    if (this.#hasEnded) return;
    this.#reason = 'failed' in last ? last.failed.message : 'exit' in last ? `exit code ${last.exit.code}` : 'ended';
    this.#send(last);
    this.#disconnect();
  }

  /** Ends the session at once: nothing more is transferred. */
  close(code: number, reason: string): void {
    if (this.#closed.signal.aborted || this.#isClosing) return;
    this.#isClosing = true;
    this.#reason ??= reason;
    this.#end();
    this.#client.close(code, reason);
    // A close frame waits behind data that the client does not read.
    const timer = setTimeout(() => this.#client.terminate(), closeTimeoutMs);
    this.#client.once('close', () => clearTimeout(timer));
  }

  #end(): void {
    clearTimeout(this.#idle);
    this.#disconnect();
  }

  #disconnect(): void {
    this.#hasEnded = true;
    this.#pod?.socket.terminate();
    this.#pod = undefined;
  }

  #data(frame: Buffer): void {
    const socket = this.#pod?.socket;
    if (!socket || frame[0] !== CHANNEL.input || frame.length > MAX_FRAME_BYTES) {
      this.close(CLOSE.invalid, 'a data frame is not valid');
      return;
    }
    if (!this.#fromClient.received(frame)) {
      this.close(CLOSE.invalid, 'more data was sent than was confirmed');
      return;
    }
    this.#idle.refresh();
    this.transferred.input += frame.length - 1;
    // Called when the kernel has taken it; an error is followed by the close event.
    socket.send(frame, () => this.#fromClient.processed(frame));
  }

  #fromPod(frame: Buffer, protocol: PodProtocol): void {
    if (this.#hasEnded) return;
    const read = protocol.fromPod(frame);
    if (!read) return;
    if ('last' in read) {
      this.finish(read.last);
      return;
    }
    this.#idle.refresh();
    this.transferred.output += read.data.length - 1;
    this.#client.send(read.data, { binary: true });
    this.#toClient.sent(read.data);
    if (!this.#toClient.isOpen) this.#pod?.socket.pause();
  }

  #message(text: string): void {
    const message = clientMessage(text);
    if (!message || !this.#handled(message)) this.close(CLOSE.invalid, 'a control message is not valid');
  }

  #handled(message: ClientMessage): boolean {
    if ('confirmed' in message) {
      if (!this.#toClient.confirmed(message.confirmed)) return false;
      this.#idle.refresh();
      if (this.#toClient.isOpen) this.#pod?.socket.resume();
      return true;
    }
    if (!this.#mayMessage()) return false;
    if ('start' in message) this.#start.resolve(message.start);
    else if ('resize' in message) this.resize(message.resize);
    else {
      const { socket, protocol } = this.#pod ?? {};
      if (protocol?.inputEnd) socket?.send(protocol.inputEnd);
    }
    return true;
  }

  #mayMessage(): boolean {
    const now = Math.floor(performance.now() / 1000);
    if (this.#second.start !== now) this.#second = { start: now, messages: 0 };
    this.#second.messages += 1;
    return this.#second.messages <= maxMessagesPerSecond;
  }

  #send(message: ServerMessage): void {
    if (!this.#closed.signal.aborted) this.#client.send(JSON.stringify(message));
  }
}
