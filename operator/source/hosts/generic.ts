import { z } from 'zod';
import type { AuthorFacts } from '../../../crds/rule-decision.ts';
import { SourceRefusedError, SourceUnreachableError } from '../errors.ts';
import type { Source, SourceAccess } from '../git/source.ts';
import { HostApi, pathOf } from './host-api.ts';
import type { HostHttp } from './host-http.ts';
import type { Capabilities, GitHost, PullRequest, WrittenComment } from './host.ts';
import { unlessNotAllowed } from './not-allowed.ts';

const userSchema = z.object({ id: z.int(), login: z.string() });
type User = z.infer<typeof userSchema>;
const writtenSchema = z.object({
  body: z.string(),
  /** Address for browsers; empty for a comment on an issue. */
  pull_request_url: z.string(),
  user: userSchema.nullish(),
});
const permissionSchema = z.object({ permission: z.string(), user: z.object({ id: z.int() }).nullish() });
const writers = ['owner', 'admin', 'write'];
/** The author of a pull request; null if that user was deleted. */
const authoredSchema = z.object({ user: userSchema.nullish() });
/** Maximum duration of reading all authors, in milliseconds, because others wait meanwhile. */
const maxAuthorsMs = 60_000;

/** Any Git server, of which Coppice uses Git's own protocol; of Gitea and Forgejo also who can write. */
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
    return { body: comment.body, author: comment.user.login, canWrite: await canWrite(api, comment.user) };
  }

  /**
   * Reads who opened pull requests at Gitea or Forgejo, and whether they can push: at most two requests for each, with
   * credentials of an administrator of the repository. Returns nothing at other servers, over SSH, and where the
   * credentials do not permit it. Throws SourceUnreachableError if the server does not answer, or not in time.
   */
  async authorsOf(pullRequests: readonly number[]): Promise<ReadonlyMap<number, AuthorFacts>> {
    const found = new Map<number, AuthorFacts>();
    const api = this.#giteaApi();
    if (!api) return found;
    const endsAt = this.#http.now().getTime() + maxAuthorsMs;
    const known = new Map<number, boolean>();
    try {
      for (const number of pullRequests) {
        if (this.#http.now().getTime() >= endsAt) throw tooSlow(this.access.origin);
        const { user } =
          (await unlessNotAllowed(() => api.get(pathOf('pulls', number), authoredSchema), ['NotFound'])) ?? {};
        if (!user) continue;
        const isMember = known.get(user.id) ?? (await canWrite(api, user));
        known.set(user.id, isMember);
        found.set(number, { isMember });
      }
    } catch (error) {
      // Without the permission to ask about one user, the others are refused too.
      if (!(error instanceof SourceRefusedError)) throw error;
    }
    return found;
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

/** Returns whether a user of Gitea can push to the repository. */
async function canWrite(api: HostApi, { id, login }: User): Promise<boolean> {
  const path = pathOf('collaborators', login, 'permission');
  const found = await unlessNotAllowed(() => api.get(path, permissionSchema), ['NotFound']);
  // The name may belong to another user by now.
  return found?.user?.id === id && writers.includes(found.permission);
}

function tooSlow(origin: string): SourceUnreachableError {
  const { host } = new URL(origin);
  const seconds = maxAuthorsMs / 1000;
  return new SourceUnreachableError(
    `the authors of pull requests at ${host} could not be read within ${seconds} s. Check the host`,
  );
}
