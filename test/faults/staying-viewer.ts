import { setTimeout as sleep } from 'node:timers/promises';
import type { BuildLogMessage } from '../../build-logs/message.ts';
import type { RestClient } from '../client/rest-client.ts';
import { messageOf } from '../cluster/problem.ts';
import { waitFor } from '../cluster/wait-for.ts';

const againMs = 500;
const endWithinSeconds = 60;

/**
 * Views a build's log as docs/rest-api.md says that a page should: when the connection breaks, whatever is away, it connects
 * again and goes on after the last message that it has.
 */
export class StayingViewer {
  readonly #client: Pick<RestClient, 'log'>;
  readonly #id: string;
  readonly #stopping = new AbortController();
  readonly #messages: BuildLogMessage[] = [];
  #connections = 0;
  #trouble = '';
  #viewing: Promise<void> = Promise.resolve();

  constructor(client: Pick<RestClient, 'log'>, id: string) {
    this.#client = client;
    this.#id = id;
  }

  begin(): void {
    this.#viewing = this.#viewToEnd();
  }

  /** It does not connect again. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Waits for the end message. Gives all that was seen, in the order in which it came. */
  async seen(): Promise<BuildLogMessage[]> {
    await waitFor(`the viewer of ${this.#id} to see the log's end`, endWithinSeconds, async () => {
      if (this.#hasEnded) return true;
      throw new Error(`${this.#messages.length} messages after ${this.#connections} connections ${this.#trouble}`);
    });
    await this.#viewing;
    return this.#messages;
  }

  get #hasEnded(): boolean {
    const last = this.#messages.at(-1);
    return last !== undefined && 'end' in last;
  }

  async #viewToEnd(): Promise<void> {
    while (!this.#hasEnded && !this.#stopping.signal.aborted) {
      this.#connections += 1;
      const from = String(this.#messages.at(-1)?.seq ?? 0);
      try {
        for await (const message of this.#client.log(this.#id, { from })) this.#messages.push(message);
      } catch (error) {
        // What is away answers nobody: it is asked again, and told of only where the end never comes.
        this.#trouble = messageOf(error);
      }
      await sleep(againMs);
    }
  }
}
