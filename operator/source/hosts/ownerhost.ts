import { z } from 'zod';
import type { AuthorFacts } from '../../../crds/rule-decision.ts';
import type { Source, SourceAccess } from '../git/source.ts';
import { commitSchema, factSchemas, lastLineSchema, numberSchema } from './field-schemas.ts';
import { HostApi, pathOf, trimSlash } from './host-api.ts';
import type { HostHttp } from './host-http.ts';
import { listSchema, MAX_PER_PAGE } from './list-schema.ts';
import type {
  Capabilities,
  CommentLocation,
  CommitStatus,
  GitHost,
  ListedPullRequest,
  PullRequest,
  Webhook,
  WrittenComment,
} from './host.ts';
import { writeMarkedComment, type FoundComment } from './marked-comment.ts';
import { unlessNotAllowed } from './not-allowed.ts';

export interface OwnerhostOptions {
  http: HostHttp;
  source: Pick<Source, 'check'>;
  /** Address for browsers and git, such as https://github.com. */
  webUrl: string;
  /** https://api.github.com, or /api/v3 below a self-hosted server. */
  apiUrl: string;
  owner: string;
  repo: string;
  /** Not required to read public repositories. */
  token: string | undefined;
  flowOwner?: SourceAccess['flowOwner'];
}

const repositorySchema = z.object({
  id: z.int(),
  permissions: z.object({ admin: z.boolean().optional(), push: z.boolean().optional() }).optional(),
});
type RepositoryAnswer = z.infer<typeof repositorySchema>;

const repositoryReference = z.object({ id: z.int() });
const pullSchema = z.object({
  number: numberSchema,
  author_association: factSchemas.name,
  draft: factSchemas.flag,
  labels: factSchemas.namedLabels,
  head: z.object({
    ref: factSchemas.branch,
    sha: commitSchema,
    // Null when the fork was deleted.
    repo: repositoryReference.nullable(),
  }),
  base: z.object({ ref: factSchemas.branch, repo: repositoryReference }),
});
const hookSchema = z.object({ id: z.int(), config: z.object({ url: z.string().optional() }) });
const userSchema = z.object({ id: z.int(), type: z.string() });
const commentSchema = z.object({ id: z.int(), body: lastLineSchema.optional(), user: userSchema.nullable() });
const anySchema = z.object({});

const writtenSchema = z.object({
  body: z.string(),
  issue_url: z.string(),
  user: userSchema.extend({ login: z.string() }).nullable(),
});
const permissionSchema = z.object({ permission: z.string(), user: z.object({ id: z.int() }).nullish() });

const hookEvents = ['push', 'create', 'delete', 'pull_request'];

/** A repository at GitHub or a GitHub Enterprise Server: https://docs.github.com/en/rest */
export class OwnerhostHost implements GitHost {
  readonly access: SourceAccess;
  readonly webUrl: string;
  readonly #api: HostApi;
  readonly #options: OwnerhostOptions;

  constructor(options: OwnerhostOptions) {
    const { http, owner, repo, token } = options;
    this.#options = options;
    this.webUrl = trimSlash(options.webUrl) + pathOf(owner, repo);
    const credentials = token === undefined ? undefined : { username: 'x-access-token', password: token };
    this.access = { origin: `${this.webUrl}.git`, credentials, flowOwner: options.flowOwner };
    this.#api = new HostApi({
      http,
      baseUrl: trimSlash(options.apiUrl),
      headers: {
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
  }

  async check(): Promise<Capabilities> {
    const { value, headers } = await this.#api.read(this.#api.url(this.#path()), repositorySchema);
    // Fine-grained tokens have a separate permission for this.
    await this.#api.get(`${this.#path('pulls')}?state=open&per_page=1`, listSchema(anySchema, MAX_PER_PAGE));
    await this.#options.source.check(this.access);
    if (this.#options.token === undefined) return { statuses: false, hooks: false };
    return capabilitiesOf(value, headers['x-oauth-scopes']);
  }

  async repositoryId(): Promise<string> {
    return String((await this.#api.get(this.#path(), repositorySchema)).id);
  }

  async openPullRequests(): Promise<readonly ListedPullRequest[]> {
    const path = `${this.#path('pulls')}?state=open&per_page=50`;
    const pulls = await this.#api.linkedList(path, pullSchema, ({ number }) => number);
    return pulls.map((pull) => ({ ...toPullRequest(pull, this.access), facts: factsOf(pull) }));
  }

  async pullRequest(number: number): Promise<PullRequest> {
    return toPullRequest(await this.#api.get(this.#path('pulls', number), pullSchema), this.access);
  }

  async setStatus(commit: string, { context, state, description, targetUrl }: CommitStatus): Promise<boolean> {
    const body = { state, context, description: description.slice(0, 140), target_url: targetUrl };
    await this.#api.write('POST', this.#path('statuses', commit), body, anySchema);
    return true;
  }

  comment(location: CommentLocation, body: string): Promise<string> {
    const path = this.#path('issues', location.pullRequest, 'comments');
    const comments = {
      own: () => this.#ownComments(path),
      create: async (text: string) => {
        return String((await this.#api.write('POST', path, { body: text }, z.object({ id: z.int() }))).id);
      },
      update: async (id: string, text: string) => {
        await this.#api.write('PATCH', this.#path('issues', 'comments', id), { body: text }, anySchema);
      },
    };
    return writeMarkedComment(comments, location, body);
  }

  /**
   * Returns the comments of the token's user. Everyone with push access can change the comments of others, so the host
   * would not refuse it.
   */
  async #ownComments(path: string): Promise<FoundComment[]> {
    const myId = await this.#myId();
    const all = await this.#api.linkedList(`${path}?per_page=100`, commentSchema, ({ id }) => id);
    return all
      .filter(({ user }) => (myId === undefined ? user?.type === 'Bot' : user?.id === myId))
      .map(({ id, body = '' }) => ({ id: String(id), lastLine: body }));
  }

  /**
   * Returns the ID of the token's user; undefined for an app's token, which has no readable user and comments as a bot.
   */
  async #myId(): Promise<number | undefined> {
    return (await unlessNotAllowed(() => this.#api.get('/user', userSchema)))?.id;
  }

  async writtenComment(pullRequest: number, id: string): Promise<WrittenComment | undefined> {
    if (this.#options.token === undefined) return undefined;
    const path = this.#path('issues', 'comments', id);
    const comment = await unlessNotAllowed(() => this.#api.get(path, writtenSchema), ['NotFound']);
    if (!comment?.user || !comment.issue_url.endsWith(`/issues/${pullRequest}`)) return undefined;
    const { id: authorId, login } = comment.user;
    const found = await unlessNotAllowed(
      () => this.#api.get(this.#path('collaborators', login, 'permission'), permissionSchema),
      ['NotFound'],
    );
    // The name may belong to another user since.
    const canWrite = found?.user?.id === authorId && ['admin', 'write'].includes(found.permission);
    return { body: comment.body, author: login, canWrite };
  }

  ensureWebhook({ url, secret, comments = false }: Webhook): Promise<string | undefined> {
    const path = this.#path('hooks');
    const config = { url, secret, content_type: 'json', insecure_ssl: '0' };
    return unlessNotAllowed(async () => {
      const hooks = await this.#api.linkedList(`${path}?per_page=100`, hookSchema, ({ id }) => id);
      const found = hooks.find((hook) => hook.config.url === url);
      const events = comments ? [...hookEvents, 'issue_comment'] : hookEvents;
      const body = { active: true, events, config };
      const { id } = found
        ? await this.#api.write('PATCH', this.#path('hooks', found.id), body, hookSchema)
        : await this.#api.write('POST', path, { name: 'web', ...body }, hookSchema);
      return String(id);
    });
  }

  async removeWebhook(id: string): Promise<void> {
    await unlessNotAllowed(() => this.#api.delete(this.#path('hooks', id)));
  }

  #path(...parts: (string | number)[]): string {
    return pathOf('repos', this.#options.owner, this.#options.repo, ...parts);
  }
}

export function toPullRequest({ number, head, base }: z.infer<typeof pullSchema>, access: SourceAccess): PullRequest {
  return {
    number,
    commit: head.sha,
    isFork: head.repo?.id !== base.repo.id,
    sourceBranch: head.ref ?? undefined,
    location: { access, refName: `refs/pull/${number}/head` },
  };
}

/** Values of `author_association` of members. Members of the organization whom the token cannot see are reported as others. */
const memberships = ['OWNER', 'MEMBER', 'COLLABORATOR'];

export function factsOf({
  draft,
  labels,
  head,
  base,
  author_association,
}: z.infer<typeof pullSchema>): ListedPullRequest['facts'] {
  return {
    labels: labels?.map(({ name }) => name),
    targetBranch: base.ref ?? undefined,
    sourceBranch: head.ref ?? undefined,
    isDraft: draft ?? undefined,
    author: authorOf(author_association ?? undefined),
  };
}

function authorOf(association: string | undefined): AuthorFacts | undefined {
  if (association === undefined) return undefined;
  return { isMember: memberships.includes(association), hasContributed: association === 'CONTRIBUTOR' };
}

/**
 * Derives capabilities from `permissions` of the token's user and `scopes` of a classic token. GitHub does not report
 * the permissions of fine-grained tokens and apps.
 */
export function capabilitiesOf(
  { permissions }: Pick<RepositoryAnswer, 'permissions'>,
  scopes: string | undefined,
): Capabilities {
  const given = scopes?.split(/[\s,]+/).filter(Boolean);
  const may = (permission: boolean | undefined, ...any: string[]) => {
    if (permission === false || (given && !any.some((scope) => given.includes(scope)))) return false;
    return given && permission;
  };
  return {
    statuses: may(permissions?.push, 'repo', 'public_repo', 'repo:status'),
    hooks: may(permissions?.admin, 'repo', 'public_repo', 'admin:repo_hook', 'write:repo_hook'),
  };
}
