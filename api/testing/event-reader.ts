import { get, type ClientRequest, type IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface ReadEvent {
  name: string;
  data: Record<string, unknown>;
}

const timeoutMs = 5000;

/** A client of the event stream. */
export class EventReader {
  readonly events: ReadEvent[] = [];
  /** Called with each event. */
  onEvent: (event: ReadEvent) => void = () => undefined;
  /** Called when the stream has ended, whoever ended it. */
  onEnd: () => void = () => undefined;
  /** The last id, as a browser keeps it. */
  lastId = '';
  hasEnded = false;
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  #text = '';
  #read = 0;

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => this.#take(chunk));
    response.on('close', () => {
      this.hasEnded = true;
      this.onEnd();
    });
    response.on('error', () => undefined);
  }

  /** Connects. Rejects if the connection fails. */
  static async open(url: string, headers: Record<string, string>, lookup?: LookupFunction): Promise<EventReader> {
    const request = get(url, { headers, agent: false, ...(lookup && { lookup }) });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).once('error', reject);
    });
    request.on('error', () => undefined);
    return new EventReader(request, response);
  }

  get status(): number | undefined {
    return this.#response.statusCode;
  }

  /** Returns the next event. @throws Error if none comes in time */
  async next(): Promise<ReadEvent> {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const event = this.events[this.#read];
      if (event) {
        this.#read += 1;
        return event;
      }
      if (performance.now() > end) throw new Error('no event came in time');
      await delay(2);
    }
  }

  /** Resolves when the stream has ended. */
  async ended(): Promise<void> {
    const end = performance.now() + timeoutMs;
    while (!this.hasEnded) {
      if (performance.now() > end) throw new Error('the stream did not end');
      await delay(2);
    }
  }

  /** Stops reading, without closing the connection. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  #take(chunk: string): void {
    const blocks = (this.#text + chunk).split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.split(':', 1)[0] ?? '', line.replace(/^\w*: /, '')]),
      );
      const id = fields.get('id');
      if (id !== undefined) this.lastId = id;
      const data = fields.get('data');
      if (data !== undefined) {
        const event = { name: fields.get('event') ?? '', data: JSON.parse(data) as Record<string, unknown> };
        this.events.push(event);
        this.onEvent(event);
      }
    }
  }
}
