/** An event of a stream of server-sent events. */
export interface StreamEvent {
  type: string;
  data: string;
}

/**
 * Splits server-sent events from text as it arrives. The browser's EventSource hides heartbeats, without
 * which a dead connection looks like a quiet one.
 */
export class EventParser {
  /** The id of the last block, after which a new connection continues. */
  lastEventId = '';
  #rest = '';
  #type = '';
  #data: string[] = [];

  /** Returns the events that the text completes. */
  push(text: string): StreamEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): StreamEvent[] {
    if (line === '') {
      const event = { type: this.#type === '' ? 'message' : this.#type, data: this.#data.join('\n') };
      const isEvent = this.#data.length > 0;
      this.#type = '';
      this.#data = [];
      return isEvent ? [event] : [];
    }
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.lastEventId = value;
    return [];
  }
}
