import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { RestClient } from '../client/rest-client.ts';
import { waitFor } from '../cluster/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';

const password = 'correct horse battery';
const everyMs = 500;
const expiresInMs = 3000;

/** How a token is asked with, and what a Coppice that is well answers. */
interface Asking {
  what: string;
  client: RestClient;
  method: 'GET' | 'POST';
  path: string;
  expected: number;
}

/**
 * Tokens of all kinds, asked with over and over from the strike on: one that is dead, or may not write, must never be
 * taken, whatever is away; one that lives may go without an answer meanwhile, and is taken in the end.
 */
export class FaultTokens {
  readonly #askings: readonly Asking[];
  /** Logs out at the strike. */
  readonly #leaving: RestClient;
  readonly #wronglyTaken: string[] = [];
  readonly #stopping = new AbortController();
  #asked: Promise<void> = Promise.resolve();
  #hasLeft: Promise<PromiseSettledResult<void>[]> = Promise.resolve([]);

  private constructor(askings: readonly Asking[], leaving: RestClient) {
    this.#askings = askings;
    this.#leaving = leaving;
  }

  /** `takesExpired`: where a token whose time is over may be taken, it is not asked with. */
  static async make(harness: Harness, { takesExpired }: { takesExpired: boolean }): Promise<FaultTokens> {
    const user = await loggedIn(harness);
    const gone = await loggedIn(harness);
    await logOut(gone);
    const tomorrow = new Date(Date.now() + 24 * 3600_000);
    const token = (name: string, readOnly = false) => user.withApiToken(name, tomorrow, readOnly);
    // It has ended by the time of the strike, for which builds are waited for.
    const expired = await user.withApiToken('expired', new Date(Date.now() + expiresInMs));
    const [living, reading, deleted] = [await token('living'), await token('reading', true), await token('deleted')];
    await user.call(z.unknown(), 'DELETE', '/api/user/tokens', { name: 'deleted' });
    const get = { method: 'GET', path: '/api/user/info' } as const;
    const askings: Asking[] = [
      { what: 'a login', client: user, ...get, expected: 200 },
      { what: 'an API token', client: living, ...get, expected: 200 },
      { what: 'a login that was logged out', client: gone, ...get, expected: 401 },
      { what: 'an API token that was deleted', client: deleted, ...get, expected: 401 },
      ...(takesExpired ? [] : [{ what: 'an API token whose time is over', client: expired, ...get, expected: 401 }]),
      // It has no body that a group could be made of, were it let through.
      {
        what: 'a write by a token that only reads',
        client: reading,
        method: 'POST',
        path: '/api/groups',
        expected: 403,
      },
    ];
    return new FaultTokens(askings, await loggedIn(harness));
  }

  /** At the strike: one logs out, the others are asked with until the end. */
  start(): void {
    this.#hasLeft = Promise.allSettled([logOut(this.#leaving, this.#stopping.signal)]);
    this.#asked = this.#askAgainAndAgain();
  }

  /** Throws where one was taken that must not be, or is not as it should be now. */
  async requireAsTheyShould(): Promise<void> {
    const [left] = await this.#hasLeft;
    if (left?.status === 'rejected') throw left.reason;
    this.stop();
    await this.#asked;
    assert.deepEqual(this.#wronglyTaken, []);
    const after = await this.#leaving.send('GET', '/api/user/info');
    assert.equal(after.status, 401, 'a login that logged out at the strike');
    for (const { what, client, method, path, expected } of this.#askings) {
      assert.equal((await client.send(method, path, bodyOf(method))).status, expected, what);
    }
  }

  /** They are asked with no more. */
  stop(): void {
    this.#stopping.abort();
  }

  async #askAgainAndAgain(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await Promise.all(this.#askings.map((asking) => this.#ask(asking)));
      await sleep(everyMs);
    }
  }

  async #ask({ what, client, method, path, expected }: Asking): Promise<void> {
    // No answer is to be expected of what was injected.
    const status = await client.send(method, path, bodyOf(method)).then(
      (answer) => answer.status,
      () => 0,
    );
    // A write that may not be is refused before its body is looked at: 422 would say that it was let through.
    const isTaken = (status >= 200 && status < 300) || status === 422;
    if (expected !== 200 && isTaken) this.#wronglyTaken.push(`${what}: ${status}`);
  }
}

const bodyOf = (method: Asking['method']) => (method === 'POST' ? {} : undefined);

async function loggedIn(harness: Harness): Promise<RestClient> {
  const { email = '' } = await harness.newUser(password);
  const client = new RestClient(harness.connection.apiUrl);
  await client.login(email, password);
  return client;
}

/** Asked for until it is taken; after an answer that was lost it is refused, for it has logged out. */
async function logOut(client: RestClient, signal?: AbortSignal): Promise<void> {
  const leave = async () => {
    const { status, text } = await client.send('POST', '/api/user/logout');
    if (status < 300 || status === 401) return true;
    throw new Error(`${status} ${text}`);
  };
  await waitFor('a logout to be taken', 300, leave, signal);
}
