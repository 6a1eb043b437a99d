import { randomBytes } from 'node:crypto';
import type { LogPage } from '../../build-logs/page.ts';

/** Maximum number of bytes sent but not confirmed by the reader, which kernels buffer otherwise. */
const windowBytes = 256 * 1024;
const pingEveryBytes = 64 * 1024;
const text = { binary: false };

/** The part of ws.WebSocket that is used here. */
export interface PingedSocket {
  send(frame: Buffer, options: { binary: boolean }): void;
  ping(data: Buffer): void;
  on(event: 'pong', listener: (data: Buffer) => void): unknown;
  terminate(): void;
}

/** A ping, and the number of bytes sent before it. */
interface Checkpoint {
  nonce: string;
  sentBytes: number;
}

/**
 * Sends frames to one reader, at most 256 KiB ahead of what it has read. With TCP alone, kernels buffer several MiB for
 * a reader that reads nothing. A pong (RFC 6455, 5.5.3) proves that everything before its ping was read; its nonce
 * cannot be guessed.
 */
export class PacedSender {
  readonly #webSocket: Omit<PingedSocket, 'terminate'>;
  /** Pings without a pong, oldest first. */
  #checkpoints: Checkpoint[] = [];
  #sentBytes = 0;
  #readBytes = 0;
  #onRead: (() => void) | undefined;

  constructor(webSocket: Omit<PingedSocket, 'terminate'>) {
    this.#webSocket = webSocket;
    webSocket.on('pong', (data: Buffer) => this.#confirm(data.toString('latin1')));
  }

  /** Sends a frame. Resolves when another one can be sent, or the signal is aborted. */
  async send(frame: Buffer, signal: AbortSignal): Promise<void> {
    // A failed send is followed by the close event.
    this.#webSocket.send(frame, text);
    this.#sentBytes += frame.length;
    if (this.#sentBytes - (this.#checkpoints.at(-1)?.sentBytes ?? this.#readBytes) >= pingEveryBytes) this.#ping();
    while (this.#sentBytes - this.#readBytes >= windowBytes && !signal.aborted) await this.#nextRead(signal);
  }

  #ping(): void {
    const nonce = randomBytes(8).toString('latin1');
    this.#checkpoints.push({ nonce, sentBytes: this.#sentBytes });
    this.#webSocket.ping(Buffer.from(nonce, 'latin1'));
  }

  #confirm(nonce: string): void {
    const index = this.#checkpoints.findIndex((checkpoint) => checkpoint.nonce === nonce);
    const confirmed = this.#checkpoints[index];
    // Other pongs answer keep-alive pings, or none.
    if (!confirmed) return;
    this.#checkpoints = this.#checkpoints.slice(index + 1);
    this.#readBytes = confirmed.sentBytes;
    this.#onRead?.();
  }

  #nextRead(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#onRead = end;
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

export interface SendOptions {
  /** Aborted when the connection has closed; the remaining frames are dropped. */
  signal: AbortSignal;
  /** How long a reader can take to read what was sent ahead of it. Default 60 s. */
  stallTimeoutMs?: number | undefined;
}

/**
 * Sends pages as text frames of JSON lines, in order and at the reader's pace, and closes the connection of a stalled
 * reader. All readers of a page share its bytes.
 */
export async function sendPages(
  webSocket: PingedSocket,
  pages: AsyncIterable<Pick<LogPage, 'frames'>>,
  { signal, stallTimeoutMs = 60_000 }: SendOptions,
): Promise<void> {
  const sender = new PacedSender(webSocket);
  for await (const page of pages) {
    for (const frame of page.frames()) {
      if (signal.aborted) return;
      // Anything sent to it, including a close frame, would wait behind unread data.
      const stalled = setTimeout(() => webSocket.terminate(), stallTimeoutMs);
      await sender.send(frame, signal);
      clearTimeout(stalled);
    }
  }
}
