import { z } from 'zod';
import type { Source, SourceAccess } from '../git/source.ts';
import { HostApi, pathOf } from './host-api.ts';
import type { HostHttp } from './host-http.ts';
import type { Capabilities, GitHost, PullRequest, WrittenComment } from './host.ts';
import { unlessNotAllowed } from './not-allowed.ts';

const writtenSchema = z.object({
  body: z.string(),
  /** Address for browsers; empty for a comment on an issue. */
  pull_request_url: z.string(),
  user: z.object({ id: z.int(), login: z.string() }).nullish(),
});
const permissionSchema = z.object({ permission: z.string(), user: z.object({ id: z.int() }).nullish() });
const writers = ['owner', 'admin', 'write'];

/** Any Git server, of which Coppice uses Git's own protocol; of Gitea and Forgejo also who wrote a comment. */
export class GenericHost implements GitHost {
  readonly access: SourceAccess;
  readonly #source: Pick<Source, 'check'>;
  readonly #http: HostHttp;

  constructor(source: Pick<Source, 'check'>, access: SourceAccess, http: HostHttp) {
    this.#source = source;
    this.access = access;
    this.#http = http;
  }

  get webUrl(): string {
    return this.access.origin;
  }

  async check(): Promise<Capabilities> {
    await this.#source.check(this.access);
    return { statuses: false, hooks: false };
  }

  /** Git has no repository IDs. */
  repositoryId(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  openPullRequests(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /**
   * Returns a pull request's ref, as GitHub, Gitea and Forgejo name it. Git does not report whether it comes from a
   * fork.
   */
  pullRequest(number: number): Promise<PullRequest> {
    const location = { access: this.access, refName: `refs/pull/${number}/head` };
    return Promise.resolve({ number, commit: undefined, isFork: undefined, location });
  }

  setStatus(): Promise<boolean> {
    return Promise.resolve(false);
  }

  comment(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /**
   * Reads a comment at Gitea or Forgejo, which report the permissions of others to administrators of the repository.
   * Returns undefined at other servers, and over SSH.
   */
  async writtenComment(pullRequest: number, id: string): Promise<WrittenComment | undefined> {
    const api = this.#giteaApi();
    if (!api) return undefined;
    const comment = await unlessNotAllowed(
      () => api.get(pathOf('issues', 'comments', id), writtenSchema),
      ['NotFound'],
    );
    if (!comment?.user || !comment.pull_request_url.endsWith(`/pulls/${pullRequest}`)) return undefined;
    const { id: authorId, login } = comment.user;
    const path = pathOf('collaborators', login, 'permission');
    const found = await unlessNotAllowed(() => api.get(path, permissionSchema), ['NotFound']);
    // The name may belong to another user since.
    const canWrite = found?.user?.id === authorId && writers.includes(found.permission);
    return { body: comment.body, author: login, canWrite };
  }

  /** Returns the API of the repository at its own server, which gets the credentials in any case. */
  #giteaApi(): HostApi | undefined {
    const { origin, credentials } = this.access;
    const [, server, owner, name] = /^(https?:\/\/.+)\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(origin) ?? [];
    if (!credentials || server === undefined || owner === undefined || name === undefined) return undefined;
    const basic = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
    return new HostApi({
      http: this.#http,
      baseUrl: `${server}/api/v1/repos/${owner}/${name}`,
      headers: { accept: 'application/json', authorization: `Basic ${basic}` },
      // Other servers have no such path.
      isPage404Own: true,
    });
  }

  ensureWebhook(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  removeWebhook(): Promise<void> {
    return Promise.resolve();
  }
}
