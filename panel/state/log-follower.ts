import { send } from '../api/client.ts';
import { asRequestError, type RequestError } from '../api/errors.ts';
import { parseFrame, withoutTabs, type LogEnd, type LogLine } from '../view/log-line.ts';
import { readTerminalText } from '../view/terminal-text.ts';

export interface LogSource {
  /** Path of the log in the API. */
  path: string;
  query: Readonly<Record<string, string>>;
}

export type LogState = 'connecting' | 'open' | 'reconnecting' | 'ended' | 'missing' | 'gone';

export interface LogHandlers {
  onLines: (lines: readonly LogLine[]) => void;
  onEnd?: (end: LogEnd) => void;
  onState?: (state: LogState, error?: RequestError) => void;
}

const retryMs = { first: 500, max: 10_000 };

/** Close codes of a log's WebSocket; see docs/reference/rest-api.md. */
const closed: Readonly<Record<number, LogState>> = { 1000: 'ended', 4404: 'gone', 4408: 'missing', 4410: 'ended' };
const unauthorized = 4401;

/** Follows a log over a WebSocket, and continues after the last line when the connection is lost. */
export class LogFollower {
  readonly #source: LogSource;
  readonly #handlers: LogHandlers;
  #socket: WebSocket | undefined;
  #last = 0;
  #count = 0;
  #isStopped = false;
  #hasOpened = false;
  #retryMs = retryMs.first;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: LogSource, handlers: LogHandlers) {
    this.#source = source;
    this.#handlers = handlers;
  }

  start(): void {
    this.#isStopped = false;
    this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #connect(): void {
    const { path, query } = this.#source;
    const url = new URL(path, location.href);
    url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
    for (const [name, value] of Object.entries(query)) {
      // After the first lines `from` continues the log; `tail` would send some of them again.
      if (name !== 'tail' || this.#last === 0) url.searchParams.set(name, value);
    }
    if (this.#last > 0) url.searchParams.set('from', String(this.#last));
    const socket = new WebSocket(url);
    this.#socket = socket;
    let isOpen = false;
    socket.addEventListener('open', () => {
      isOpen = true;
      this.#hasOpened = true;
      this.#retryMs = retryMs.first;
      this.#report('open');
    });
    socket.addEventListener('message', ({ data }) => {
      if (typeof data === 'string' && !this.#isStopped) this.#receive(data);
    });
    socket.addEventListener('close', ({ code }) => {
      if (this.#isStopped || this.#socket !== socket) return;
      const state = closed[code];
      if (state) this.#report(state);
      else void this.#reconnect(isOpen && code !== unauthorized);
    });
  }

  #receive(frame: string): void {
    const lines: LogLine[] = [];
    let end: LogEnd | undefined;
    for (const message of parseFrame(frame)) {
      if (message.seq <= this.#last) continue;
      this.#last = message.seq;
      if ('end' in message) end = message.end;
      else {
        const { seq, time, service, stage, pod, line } = message;
        const text = readTerminalText(withoutTabs(line));
        this.#count += 1;
        lines.push({ seq, position: this.#count, time, service, stage, ...(pod !== undefined && { pod }), ...text });
      }
    }
    if (lines.length > 0) this.#handlers.onLines(lines);
    if (end) this.#handlers.onEnd?.(end);
  }

  /** The browser hides why a handshake was refused; a request without one does not. */
  async #reconnect(wasOpen: boolean): Promise<void> {
    this.#report(this.#hasOpened ? 'reconnecting' : 'connecting');
    if (!wasOpen) {
      const refusal = await this.#refusal();
      if (this.#isStopped) return;
      if (refusal?.isNotFound) {
        this.#report('missing', refusal);
        return;
      }
    }
    this.#timer = setTimeout(() => this.#connect(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, retryMs.max);
  }

  async #refusal(): Promise<RequestError | undefined> {
    try {
      // If the session has ended, this request asks the user to sign in again.
      await send('GET', '/api/user/info');
      const { path, query } = this.#source;
      const response = await fetch(
        `${path}?${new URLSearchParams({ ...query, from: String(Number.MAX_SAFE_INTEGER) }).toString()}`,
      );
      if (response.status !== 404) return undefined;
      return asRequestError(
        await send('GET', `${path}?${new URLSearchParams(query).toString()}`).catch((e: unknown) => e),
      );
    } catch (error) {
      return asRequestError(error);
    }
  }

  #report(state: LogState, error?: RequestError): void {
    this.#handlers.onState?.(state, error);
  }
}
