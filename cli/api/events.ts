import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { notSignedIn } from '../errors.ts';
import type { Client } from './client.ts';
import type { Change } from './types.ts';

/** An event of the change stream. After `reset`, everything must be read again. */
export type StreamEvent = { type: 'reset' } | { type: 'ready' } | { type: 'change'; change: Change };

/** The API sends a heartbeat every 15 s. */
const idleMs = 45_000;
const reconnectMs = { first: 500, max: 10_000 };

/** Returns the changes that the caller sees, until the signal ends it. Continues where a lost connection stopped. */
export async function* changes(client: Client, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  let lastId = '';
  let wait = reconnectMs.first;
  for (;;) {
    const headers = { accept: 'text/event-stream', ...(lastId !== '' && { 'last-event-id': lastId }) };
    const response = await client.open('GET', '/api/events', { headers, signal, idleMs });
    for await (const { event, data, id } of blocks(response, signal)) {
      if (id !== undefined) lastId = id;
      wait = reconnectMs.first;
      if (event === 'close' && data.includes('"unauthorized"')) throw notSignedIn(client.target.url, true);
      if (event === 'reset' || event === 'ready') yield { type: event };
      // Not validated: the server that sends it defines its type (api/events/change.ts).
      if (event === 'change') yield { type: 'change', change: JSON.parse(data) as Change };
    }
    if (signal.aborted) return;
    await delay(wait, undefined, { signal });
    wait = Math.min(2 * wait, reconnectMs.max);
  }
}

interface Block {
  event: string;
  data: string;
  id?: string;
}

/** Splits server-sent events; ends with the connection, however that ends. */
async function* blocks(response: IncomingMessage, signal: AbortSignal): AsyncGenerator<Block> {
  const parser = new BlockParser();
  response.setEncoding('utf8');
  try {
    for await (const text of response) yield* parser.push(String(text));
  } catch (error) {
    // A lost connection is continued; an abort ends the stream.
    if (signal.aborted || response.destroyed) return;
    throw error;
  }
}

/** Splits server-sent events (WHATWG HTML, 9.2.6) from text as it arrives. */
export class BlockParser {
  #rest = '';
  #block: Block = { event: '', data: '' };

  /** Returns the blocks that the text completes, including heartbeats, which have only an id. */
  push(text: string): Block[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): Block[] {
    if (line === '') {
      const block = this.#block;
      this.#block = { event: '', data: '' };
      return [block];
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') this.#block.event = value;
    else if (field === 'data') this.#block.data += this.#block.data === '' ? value : `\n${value}`;
    else if (field === 'id') this.#block.id = value;
    return [];
  }
}
