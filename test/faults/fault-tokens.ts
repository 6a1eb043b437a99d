import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { RestClient } from '../client/rest-client.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Harness } from '../end-to-end/harness.ts';

const password = 'correct horse battery';
const everyMs = 500;
const expiresInMs = 3000;

/** How a token is used, and the response of a healthy Coppice. */
interface Asking {
  what: string;
  client: RestClient;
  method: 'GET' | 'POST';
  path: string;
  expected: number;
}

/**
 * Tokens of all kinds, used repeatedly from the fault on. Invalid tokens, and writes without permission, must never be
 * accepted, whatever has failed; valid ones can go without a response, and are accepted in the end.
 */
export class FaultTokens {
  readonly #askings: readonly Asking[];
  /** Logs out when the fault is injected. */
  readonly #leaving: RestClient;
  readonly #wronglyTaken: string[] = [];
  readonly #stopping = new AbortController();
  #asked: Promise<void> = Promise.resolve();
  #hasLeft: Promise<PromiseSettledResult<void>[]> = Promise.resolve([]);

  private constructor(askings: readonly Asking[], leaving: RestClient) {
    this.#askings = askings;
    this.#leaving = leaving;
  }

  /** Creates the tokens. `takesExpired`: does not use an expired token, which may be accepted. */
  static async make(harness: Harness, { takesExpired }: { takesExpired: boolean }): Promise<FaultTokens> {
    const user = await loggedIn(harness);
    const gone = await loggedIn(harness);
    await logOut(gone);
    const tomorrow = new Date(Date.now() + 24 * 3600_000);
    const token = (name: string, readOnly = false) => user.withApiToken(name, tomorrow, readOnly);
    // It has expired when the fault is injected, because builds are awaited first.
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
      // The body would be invalid for a group if the request were permitted.
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

  /** Called at the fault: one token logs out, the others are used until the end. */
  start(): void {
    this.#hasLeft = Promise.allSettled([logOut(this.#leaving, this.#stopping.signal)]);
    this.#asked = this.#askAgainAndAgain();
  }

  /** Throws if a token was wrongly accepted, or is not in its expected state now. */
  async requireAsTheyShould(): Promise<void> {
    const [left] = await this.#hasLeft;
    if (left?.status === 'rejected') throw left.reason;
    this.stop();
    await this.#asked;
    assert.deepEqual(this.#wronglyTaken, []);
    const after = await this.#leaving.send('GET', '/api/user/info');
    assert.equal(after.status, 401, 'a login that logged out when the fault was injected');
    for (const { what, client, method, path, expected } of this.#askings) {
      assert.equal((await client.send(method, path, bodyOf(method))).status, expected, what);
    }
  }

  /** Stops using the tokens. */
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
    // A failed part need not respond.
    const status = await client.send(method, path, bodyOf(method)).then(
      (answer) => answer.status,
      () => 0,
    );
    // A write without permission is refused before its body is checked: 422 would mean that it was permitted.
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

/** Repeats the logout until it is accepted; after a lost response it is refused, because the token has ended. */
async function logOut(client: RestClient, signal?: AbortSignal): Promise<void> {
  const leave = async () => {
    const { status, text } = await client.send('POST', '/api/user/logout');
    if (status < 300 || status === 401) return true;
    throw new Error(`${status} ${text}`);
  };
  await waitFor('a logout to be taken', 300, leave, signal);
}
