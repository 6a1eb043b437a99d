import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { EventReader, type ReadEvent } from '../../api/testing/event-reader.ts';
import { localhostLookup, send } from '../client/local-http.ts';

/** Delays between attempts to connect, as in panel/state/event-connection.ts. */
const firstRetryMs = 300;
const maxRetryMs = 15_000;

export interface BrowserOptions {
  apiUrl: string;
  token: string;
  /** What the page shows: these are read again if the browser does not know what it missed. */
  paths: readonly string[];
  retryMs?: number;
}

/** How a browser became current again after it had lost its connection. */
export interface Outage {
  /** Times of `performance.now()`. */
  from: number;
  to: number;
  /** Whether it had to read its page again. */
  isReload: boolean;
}

const itemSchema = z.object({ item: z.object({ name: z.string() }) });

/** Simulates a browser with the panel: it follows changes, reconnects, and reads its page when it must. */
export class Browser {
  readonly outages: Outage[] = [];
  /** Called with the name of an object that has changed. */
  onChanged: (name: string) => void = () => undefined;
  readonly #options: BrowserOptions;
  #reader: EventReader | undefined;
  #lastId = '';
  #lostAt: number | undefined;
  #isClosed = false;
  #current = Promise.withResolvers<undefined>();

  constructor(options: BrowserOptions) {
    this.#options = options;
  }

  /** Connects, and resolves when the page is current. Rejects if the stream is refused. */
  async open(): Promise<void> {
    await this.#connect();
    await this.whenCurrent();
  }

  get isCurrent(): boolean {
    return this.#lostAt === undefined;
  }

  /** Resolves when the page is current. */
  async whenCurrent(): Promise<void> {
    await this.#current.promise;
  }

  /** Breaks the connection, as a network does. */
  cut(): void {
    this.#lost();
    this.#reader?.close();
  }

  close(): void {
    this.#isClosed = true;
    this.#reader?.close();
  }

  async #connect(): Promise<void> {
    const { apiUrl, token } = this.#options;
    const headers = { 'x-service-token': token, ...(this.#lastId !== '' && { 'last-event-id': this.#lastId }) };
    const reader = await EventReader.open(`${apiUrl}/api/events`, headers, localhostLookup);
    if (reader.status !== 200) {
      reader.close();
      throw new Error(`a stream was answered ${reader.status}`);
    }
    this.#reader = reader;
    reader.onEvent = (event) => this.#received(reader, event);
    reader.onEnd = () => void this.#reconnect(reader);
    if (this.#isClosed) reader.close();
  }

  #received(reader: EventReader, { name, data }: ReadEvent): void {
    if (name === 'change') {
      const changed = itemSchema.safeParse(data);
      if (changed.success) this.onChanged(changed.data.item.name);
    } else if (name === 'ready') this.#becomeCurrent(false);
    else if (name === 'reset') void this.#reload(reader);
  }

  #lost(): void {
    if (this.#lostAt !== undefined) return;
    this.#lostAt = performance.now();
    this.#current = Promise.withResolvers();
  }

  #becomeCurrent(isReload: boolean): void {
    const from = this.#lostAt;
    if (from !== undefined) this.outages.push({ from, to: performance.now(), isReload });
    this.#lostAt = undefined;
    this.#current.resolve(undefined);
  }

  async #reconnect(ended: EventReader): Promise<void> {
    const isClosed = () => this.#isClosed;
    if (isClosed()) return;
    this.#lost();
    this.#lastId = ended.lastId === '' ? this.#lastId : ended.lastId;
    const { retryMs = firstRetryMs } = this.#options;
    for (let waitMs = retryMs; !isClosed(); waitMs = Math.min(waitMs * 2, maxRetryMs)) {
      await delay(waitMs);
      try {
        await this.#connect();
        return;
      } catch {
        // The next attempt shows whether the API answers.
      }
    }
  }

  /** Reads the page. A read that fails is repeated, as in panel/state/resource.ts, while the connection lasts. */
  async #reload(reader: EventReader): Promise<void> {
    const { apiUrl, token, paths, retryMs = firstRetryMs } = this.#options;
    const left = new Set(paths);
    while (!this.#isClosed && !reader.hasEnded) {
      await Promise.all(
        [...left].map(async (path) => {
          const answer = await send(`${apiUrl}${path}`, { headers: { 'x-service-token': token } }).catch(noAnswer);
          if (answer?.status === 200) left.delete(path);
        }),
      );
      if (left.size === 0) {
        this.#becomeCurrent(true);
        return;
      }
      await delay(retryMs);
    }
  }
}

/** An API that is restarting may answer nothing. */
function noAnswer(): undefined {
  return undefined;
}
