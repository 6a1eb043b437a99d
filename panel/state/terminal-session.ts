import { CHANNEL, CLOSE, dataFrames, type ServerMessage, type TerminalSize } from '../../shell-protocol/frames.ts';
import { ReceiveWindow, SendWindow } from '../../shell-protocol/windows.ts';

export interface TerminalSessionOptions {
  /** Path of the service's exec in the API. */
  path: string;
  size: TerminalSize;
  /** Shows output; calls `done` when it was shown. */
  onOutput: (bytes: Uint8Array, done: () => void) => void;
  onStart: () => void;
  /** Called once with why the session ended. */
  onEnd: (reason: string) => void;
}

const maxWaiting = 64;

/** A shell in a container of a service, over a WebSocket. */
export class TerminalSession {
  readonly #socket: WebSocket;
  readonly #options: TerminalSessionOptions;
  readonly #toServer = new SendWindow();
  readonly #fromServer = new ReceiveWindow((confirmed) => this.#send({ confirmed }));
  readonly #closed = new AbortController();
  #input = Promise.resolve();
  /** Number of inputs that were not sent yet. */
  #waiting = 0;
  #reason: string | undefined;

  constructor(options: TerminalSessionOptions) {
    this.#options = options;
    const url = new URL(options.path, location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.addEventListener('open', () => this.#send({ start: { terminal: options.size, input: true } }));
    this.#socket.addEventListener('message', ({ data }) => {
      if (data instanceof ArrayBuffer) this.#receive(new Uint8Array(data));
      // Not validated: the server that sends it defines its type (shell-protocol/frames.ts).
      else this.#control(JSON.parse(String(data)) as ServerMessage);
    });
    this.#socket.addEventListener('close', ({ code, reason }) => {
      this.#closed.abort();
      options.onEnd(this.#reason ?? reasonOf(code, reason));
    });
  }

  /** Sends input, in order. */
  input(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.#waiting += 1;
    this.#input = this.#input
      .then(() => this.#sendInput(bytes))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Sends an answer of the terminal, unless many wait: a program that only asks would make them wait without end. */
  reply(text: string): void {
    if (this.#waiting < maxWaiting) this.input(text);
  }

  resize(size: TerminalSize): void {
    this.#send({ resize: size });
  }

  close(): void {
    this.#reason ??= 'Closed.';
    this.#closed.abort();
    this.#socket.close();
  }

  async #sendInput(bytes: Uint8Array): Promise<void> {
    for (const frame of dataFrames(CHANNEL.input, bytes)) {
      await this.#toServer.whenOpen(this.#closed.signal);
      if (this.#socket.readyState !== WebSocket.OPEN) return;
      this.#socket.send(frame);
      this.#toServer.sent(frame);
    }
  }

  #receive(frame: Uint8Array): void {
    this.#fromServer.received(frame);
    this.#options.onOutput(frame.subarray(1), () => this.#fromServer.processed(frame));
  }

  #control(message: ServerMessage): void {
    if ('started' in message) this.#options.onStart();
    else if ('confirmed' in message) this.#toServer.confirmed(message.confirmed);
    else {
      if ('failed' in message) this.#reason = sentence(message.failed.message);
      else this.#reason = 'exit' in message ? `The shell has ended with exit code ${message.exit.code}.` : 'Ended.';
      this.#socket.close();
    }
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

function reasonOf(code: number, reason: string): string {
  if (code === CLOSE.unauthorized) return 'You are no longer signed in, or no longer a member of the group.';
  return reason === '' ? 'The connection was lost.' : sentence(reason);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
