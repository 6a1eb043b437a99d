import { EventParser, type StreamEvent } from '../view/event-parser.ts';

/** The server sends a heartbeat every 15 s. */
const deadMs = 40_000;
const checkMs = 2000;
const retryMs = { first: 300, max: 15_000 };

export interface ConnectionHandlers {
  /** Events in the order of the stream, and the position after them. */
  onEvents: (events: readonly StreamEvent[], lastEventId: string) => void;
  /** The connection is lost; the last message arrived at this time, in Unix milliseconds. */
  onLost: (lastHeard: number) => void;
  /** The session has ended. Resolves when another attempt can succeed. */
  onRefused: () => Promise<void>;
}

/** A connection to the stream of changes that restores itself, and continues after the last event. */
export class EventConnection {
  readonly #handlers: ConnectionHandlers;
  #lastEventId: string;
  #stream: AbortController | undefined;
  #lastHeard = Date.now();
  #retryAfterMs = retryMs.first;
  #retry: ReturnType<typeof setTimeout> | undefined;

  /** @param lastEventId where to continue; empty for a start */
  constructor(handlers: ConnectionHandlers, lastEventId: string) {
    this.#handlers = handlers;
    this.#lastEventId = lastEventId;
  }

  start(): void {
    this.reopen();
    setInterval(() => this.#reopenIfDead(), checkMs);
    window.addEventListener('online', () => this.reopen());
    window.addEventListener('offline', () => this.#handlers.onLost(this.#lastHeard));
    // After a laptop was suspended, the connection can be open only on this side.
    document.addEventListener('visibilitychange', () => this.#reopenIfDead());
  }

  /** Reconnects immediately. */
  reopen(): void {
    this.#handlers.onLost(this.#lastHeard);
    this.#stream?.abort();
    clearTimeout(this.#retry);
    const opened = new AbortController();
    this.#stream = opened;
    void this.#follow(opened);
  }

  #reopenIfDead(): void {
    if (Date.now() - this.#lastHeard > deadMs) {
      this.reopen();
      this.#lastHeard = Date.now();
    }
  }

  async #follow(opened: AbortController): Promise<void> {
    let isRefused = false;
    try {
      const query = this.#lastEventId === '' ? '' : `?lastEventId=${encodeURIComponent(this.#lastEventId)}`;
      const response = await fetch(`/api/events${query}`, { signal: opened.signal, credentials: 'same-origin' });
      isRefused = response.status === 400 || response.status === 401;
      if (response.ok && response.body) await this.#read(response.body, opened);
    } catch {
      // The next connection continues after the last event, whatever the reason for the end.
    }
    if (this.#stream !== opened) return;
    this.#handlers.onLost(this.#lastHeard);
    if (isRefused) await this.#handlers.onRefused();
    if (this.#stream !== opened) return;
    this.#retry = setTimeout(() => this.reopen(), this.#retryAfterMs);
    this.#retryAfterMs = Math.min(this.#retryAfterMs * 2, retryMs.max);
  }

  async #read(body: ReadableStream<Uint8Array>, opened: AbortController): Promise<void> {
    const parser = new EventParser();
    const reader = body.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#stream !== opened) return;
      this.#lastHeard = Date.now();
      this.#retryAfterMs = retryMs.first;
      const events = parser.push(decoder.decode(value, { stream: true }));
      if (parser.lastEventId !== '') this.#lastEventId = parser.lastEventId;
      this.#handlers.onEvents(events, this.#lastEventId);
    }
  }
}
