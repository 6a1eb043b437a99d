import { z } from 'zod';
import { send } from '../client/local-http.ts';
import type { NewPullRequest, PullRequestChange } from './emulator.ts';
import type { Fault } from './faults.ts';
import type { Grant, Role } from './repositories.ts';

const recordSchema = z.object({
  refs: z.record(z.string(), z.string()),
  statuses: z.array(
    z.object({
      commit: z.string(),
      state: z.string(),
      context: z.string(),
      description: z.string(),
      targetUrl: z.string(),
    }),
  ),
  comments: z.array(z.object({ id: z.int(), pullRequest: z.int(), body: z.string() })),
  hooks: z.array(z.object({ id: z.int(), uuid: z.string(), url: z.string(), events: z.array(z.string()) })),
  deliveries: z.array(
    z.object({ url: z.string(), event: z.string(), status: z.int().optional(), milliseconds: z.number() }),
  ),
  received: z.array(z.object({ method: z.string(), path: z.string(), status: z.int() })),
  pullRequests: z.array(
    z.object({ number: z.int(), state: z.string(), branch: z.string(), commit: z.string(), from: z.string() }),
  ),
});
export type HostRecord = z.infer<typeof recordSchema>;

/** A client for tests of one of the Git hosts, such as http://ownerhost.localhost:8080. */
export class HostAdmin {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Creates a repository, or changes its permissions. A fork starts with the branches of its origin. */
  async put(
    path: string,
    options: {
      isPrivate?: boolean;
      forkOf?: string;
      tokens?: Record<string, readonly Grant[]>;
      people?: Record<string, Role>;
    } = {},
  ): Promise<void> {
    await this.#call('PUT', path, '', { isPrivate: true, tokens: {}, ...options });
  }

  async remove(path: string): Promise<void> {
    await this.#call('DELETE', path, '');
  }

  async record(path: string): Promise<HostRecord> {
    return recordSchema.parse(await this.#call('GET', path, ''));
  }

  async setFaults(path: string, faults: readonly Fault[]): Promise<void> {
    await this.#call('PUT', path, '/faults', faults);
  }

  /** Opens a pull request; returns its number. */
  async openPull(path: string, pull: NewPullRequest): Promise<number> {
    const answer = await this.#call('POST', path, '/pull-requests', pull);
    return z.object({ number: z.int() }).parse(answer).number;
  }

  /** Renames or transfers a repository, whose path is free afterwards. */
  async move(path: string, to: string): Promise<void> {
    await this.#call('POST', path, '/moves', { to });
  }

  async retarget(path: string, number: number, target: string): Promise<void> {
    await this.change(path, number, { target });
  }

  /** Changes a pull request's target branch, its labels, or whether it is a draft. */
  async change(path: string, number: number, change: PullRequestChange): Promise<void> {
    await this.#call('PATCH', path, `/pull-requests/${number}`, change);
  }

  /** Comments on a pull request as this person; returns the comment's ID. */
  async comment(path: string, number: number, author: string, body: string): Promise<number> {
    return z.object({ id: z.int() }).parse(await this.#call('POST', path, `/comments/${number}`, { author, body })).id;
  }

  async changeComment(path: string, id: number, body: string): Promise<void> {
    await this.#call('PATCH', path, `/comments/${id}`, { body });
  }

  async closePull(path: string, number: number): Promise<void> {
    await this.#call('DELETE', path, `/pull-requests/${number}`);
  }

  /** Adds a webhook as a user does on the host's web page. */
  async addHook(path: string, url: string, secret: string): Promise<void> {
    await this.#call('POST', path, '/hooks', { url, secret });
  }

  async #call(method: string, path: string, rest: string, body?: unknown): Promise<unknown> {
    const url = `${this.#url}/admin/repositories/${encodeURIComponent(path)}${rest}`;
    const answer = await send(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text);
  }
}
