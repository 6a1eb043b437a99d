import { setTimeout as sleep } from 'node:timers/promises';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import type { RestClient } from '../client/rest-client.ts';
import { messageOf } from '../cluster/problem.ts';
import { waitFor } from '../cluster/wait-for.ts';
import { numberIn } from '../end-to-end/numbered-build.ts';

const againMs = 500;
const endWithinSeconds = 60;
/** The close code after the end message, which is not waited for. */
const ended = 1000;
/** After these docs/reference/rest-api.md has a page connect again; after any other the log is over for it. */
const passing = [1001, 1006, 1011, 1012];

/**
 * Views a build's log as docs/reference/rest-api.md says that a page should: when the connection breaks, whatever is away, it connects
 * again and goes on after the last message that it has.
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

  /** It does not connect again. */
  stop(): void {
    this.#stopping.abort();
  }

  get connections(): number {
    return this.#connections;
  }

  /** Of the last numbered line that it saw; 0 before the first. */
  get number(): number {
    return this.#messages.reduce((last, message) => numberIn(message) ?? last, 0);
  }

  /** Waits for the end message. Gives all that was seen, in the order in which it came. */
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

  /** Never throws: what went wrong is reported where the end never comes. */
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

  /** @returns the close code, 1006 where nobody listens. */
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
