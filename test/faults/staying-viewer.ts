import { setTimeout as sleep } from 'node:timers/promises';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import type { RestClient } from '../client/rest-client.ts';
import { messageOf } from '../support/problem.ts';
import { waitFor } from '../support/wait-for.ts';
import { numberIn } from '../end-to-end/numbered-build.ts';

const againMs = 500;
const endWithinSeconds = 60;
/** The close code after the end message, which is not waited for. */
const ended = 1000;
/** Close codes after which a page reconnects (docs/reference/rest-api.md); others end the log. */
const passing = [1001, 1006, 1011, 1012];

/**
 * Views a build's log as docs/reference/rest-api.md recommends to pages: when the connection breaks, it reconnects and
 * continues after the last message.
 */
export class StayingViewer {
  readonly #client: Pick<RestClient, 'log'>;
  readonly #id: string;
  readonly #stopping = new AbortController();
  readonly #messages: BuildLogMessage[] = [];
  #connections = 0;
  #lastFailure = '';

  constructor(client: Pick<RestClient, 'log'>, id: string) {
    this.#client = client;
    this.#id = id;
  }

  start(): void {
    void this.#viewToEnd();
  }

  /** Stops without reconnecting. */
  stop(): void {
    this.#stopping.abort();
  }

  get connections(): number {
    return this.#connections;
  }

  /** Number of the last numbered line; 0 before the first. */
  get number(): number {
    return this.#messages.reduce((last, message) => numberIn(message) ?? last, 0);
  }

  /** Waits for the end message. Returns all messages in the order in which they arrived. */
  async seen(): Promise<BuildLogMessage[]> {
    await waitFor(`the viewer of ${this.#id} to see the log's end`, endWithinSeconds, async () => {
      if (this.#hasEnded) return true;
      throw new Error(`${this.#messages.length} messages after ${this.#connections} connections ${this.#lastFailure}`);
    });
    return this.#messages;
  }

  get #hasEnded(): boolean {
    const last = this.#messages.at(-1);
    return last !== undefined && 'end' in last;
  }

  /** Never throws: a failure is reported if the end message is missing. */
  async #viewToEnd(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#connections += 1;
      const code = await this.#viewOnce();
      if (this.#hasEnded) return;
      if (!passing.includes(code)) {
        this.#lastFailure = `and was closed with ${code}`;
        return;
      }
      await sleep(againMs);
    }
  }

  /** Views the log over one connection. @returns the close code, 1006 if nothing listens */
  async #viewOnce(): Promise<number> {
    const log = this.#client.log(this.#id, { from: String(this.#messages.at(-1)?.seq ?? 0) });
    try {
      for (let next = await log.next(); ; next = await log.next()) {
        if (next.done) return next.value;
        this.#messages.push(next.value);
        if (!this.#hasEnded) continue;
        await log.return(ended);
        return ended;
      }
    } catch (error) {
      this.#lastFailure = messageOf(error);
      return 1006;
    }
  }
}
