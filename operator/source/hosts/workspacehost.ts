import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Source, SourceAccess } from '../git/source.ts';
import { commitSchema, factSchemas, lastLineSchema, isReadableRef, nameSchema, numberSchema } from './field-schemas.ts';
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
} from './host.ts';
import { writeMarkedComment } from './marked-comment.ts';
import { unlessNotAllowed } from './not-allowed.ts';
import { nextUrl, type Page } from './pages.ts';

export interface WorkspacehostOptions {
  http: HostHttp;
  source: Pick<Source, 'check'>;
  /** Address for browsers and git, such as https://bitbucket.org. */
  webUrl: string;
  /** https://api.bitbucket.org/2.0 */
  apiUrl: string;
  workspace: string;
  repository: string;
  token: string;
  flowOwner?: SourceAccess['flowOwner'];
}

const anySchema = z.object({});
const fullName = z
  .string()
  .max(255)
  .regex(/^[\w.-]+\/[\w.-]+$/);
const repositorySchema = z.object({ full_name: fullName, uuid: nameSchema.nullish() });
export const pullRequestSchema = z.object({
  id: numberSchema,
  source: z.object({
    branch: z.object({ name: z.string().min(1) }),
    commit: z.object({ hash: commitSchema }).nullish(),
    // Null when the fork was deleted, or is not visible to the token.
    repository: repositorySchema.nullish(),
  }),
  destination: z.object({ branch: z.object({ name: factSchemas.branch }).nullish(), repository: repositorySchema }),
  draft: factSchemas.flag,
});
const uuidSchema = z.object({ uuid: nameSchema });
const commentSchema = z.object({
  id: z.int(),
  content: z.object({ raw: lastLineSchema.nullish() }).nullish(),
  deleted: z.boolean().nullish(),
});
const hookSchema = z.object({ uuid: z.string(), url: z.string() });

const states = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', error: 'FAILED' } as const;
const hookEvents = [
  'repo:push',
  'pullrequest:created',
  'pullrequest:updated',
  'pullrequest:fulfilled',
  'pullrequest:rejected',
];

/** A repository at Bitbucket Cloud: https://developer.atlassian.com/cloud/bitbucket/rest/ */
export class WorkspacehostHost implements GitHost {
  readonly access: SourceAccess;
  readonly webUrl: string;
  readonly #api: HostApi;
  readonly #options: WorkspacehostOptions;

  constructor(options: WorkspacehostOptions) {
    const { http, webUrl, apiUrl, workspace, repository, token } = options;
    this.#options = options;
    this.webUrl = trimSlash(webUrl) + pathOf(workspace, repository);
    this.access = {
      origin: `${this.webUrl}.git`,
      credentials: { username: 'x-token-auth', password: token },
      flowOwner: options.flowOwner,
    };
    this.#api = new HostApi({ http, baseUrl: trimSlash(apiUrl), headers: { authorization: `Bearer ${token}` } });
  }

  async check(): Promise<Capabilities> {
    const { headers } = await this.#api.read(this.#api.url(this.#path()), uuidSchema);
    // Requires a scope that the repository's scope does not include.
    await this.#api.get(
      `${this.#path('pullrequests')}?state=OPEN&pagelen=1`,
      z.object({ values: listSchema(anySchema, MAX_PER_PAGE) }),
    );
    await this.#options.source.check(this.access);
    return capabilitiesOf(headers['x-oauth-scopes']);
  }

  async repositoryId(): Promise<string> {
    return (await this.#api.get(this.#path(), uuidSchema)).uuid;
  }

  async openPullRequests(): Promise<readonly ListedPullRequest[]> {
    const path = `${this.#path('pullrequests')}?state=OPEN&pagelen=50`;
    const found = await this.#list(path, pullRequestSchema, ({ id }) => id);
    return found.map((one) => ({ ...this.#toPullRequest(one), facts: factsOf(one) }));
  }

  async pullRequest(number: number): Promise<PullRequest> {
    return this.#toPullRequest(await this.#api.get(this.#path('pullrequests', number), pullRequestSchema));
  }

  #toPullRequest(found: z.infer<typeof pullRequestSchema>): PullRequest {
    return toPullRequest(found, this.access, this.#options.webUrl);
  }

  async setStatus(commit: string, { context, state, description, targetUrl }: CommitStatus): Promise<boolean> {
    const body = { key: statusKey(context), name: context, state: states[state], description, url: targetUrl };
    await this.#api.write('POST', this.#path('commit', commit, 'statuses', 'build'), body, anySchema);
    return true;
  }

  /** Bitbucket never permits changing the comments of others. */
  comment(location: CommentLocation, body: string): Promise<string> {
    const path = this.#path('pullrequests', location.pullRequest, 'comments');
    const content = (raw: string) => ({ content: { raw } });
    const comments = {
      own: async () => {
        const all = await this.#list(`${path}?pagelen=100`, commentSchema, ({ id }) => id);
        const there = all.filter(({ deleted }) => deleted !== true);
        return there.map((one) => ({ id: String(one.id), lastLine: one.content?.raw ?? '' }));
      },
      create: async (raw: string) => String((await this.#api.write('POST', path, content(raw), commentSchema)).id),
      update: async (id: string, raw: string) => {
        await this.#api.write('PUT', path + pathOf(id), content(raw), commentSchema);
      },
    };
    return writeMarkedComment(comments, location, body);
  }

  /** Bitbucket reports who can write to administrators of the repository only. */
  writtenComment(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  ensureWebhook({ url, secret }: Webhook): Promise<string | undefined> {
    const path = this.#path('hooks');
    const body = { description: 'Coppice', url, active: true, secret, events: hookEvents };
    return unlessNotAllowed(async () => {
      const hooks = await this.#list(`${path}?pagelen=100`, hookSchema, ({ uuid }) => uuid);
      const found = hooks.find((hook) => hook.url === url);
      const { uuid } = found
        ? await this.#api.write('PUT', path + pathOf(found.uuid), body, hookSchema)
        : await this.#api.write('POST', path, body, hookSchema);
      return uuid;
    });
  }

  async removeWebhook(id: string): Promise<void> {
    await unlessNotAllowed(() => this.#api.delete(this.#path('hooks', id)));
  }

  #list<T>(path: string, item: z.ZodType<T>, keyOf: (item: T) => string | number): Promise<T[]> {
    const schema = z.object({ values: listSchema(item, MAX_PER_PAGE), next: z.string().optional() });
    const readPage = async (url: URL): Promise<Page<T>> => {
      const { values, next } = (await this.#api.readLong(url, schema)).value;
      return { items: values, next: next === undefined ? undefined : nextUrl(next, url) };
    };
    return this.#api.list(path, readPage, keyOf);
  }

  #path(...parts: (string | number)[]): string {
    return pathOf('repositories', this.#options.workspace, this.#options.repository, ...parts);
  }
}

/** Bitbucket has no ref for a pull request's head: its commits are in the source branch, which may be in a fork. */
export function toPullRequest(
  { id, source, destination }: z.infer<typeof pullRequestSchema>,
  own: SourceAccess,
  webUrl: string,
): PullRequest {
  const from = source.repository?.full_name;
  const to = destination.repository.full_name;
  // Names can move from one repository to another; IDs cannot.
  const isSame = from === to && source.repository?.uuid === destination.repository.uuid;
  const hash = source.commit?.hash;
  const branch = `refs/heads/${source.branch.name}`;
  return {
    number: id,
    commit: hash?.length === 40 ? hash : undefined,
    isFork: !isSame,
    sourceBranch: source.branch.name,
    location:
      from === undefined || !isReadableRef(branch)
        ? // The commits are not available: this ref does not exist, while a branch of the same name in the repository
          // would be unrelated.
          { access: own, refName: `refs/pull-requests/${id}/from` }
        : {
            access: isSame ? own : forkAccess(from, to, own, webUrl),
            refName: branch,
          },
  };
}

/** Bitbucket has no labels. */
export function factsOf({ source, destination, draft }: z.infer<typeof pullRequestSchema>): ListedPullRequest['facts'] {
  return {
    labels: undefined,
    targetBranch: destination.branch?.name ?? undefined,
    sourceBranch: source.branch.name,
    isDraft: draft ?? undefined,
  };
}

/**
 * Returns the access to a fork. An access token is valid only in its workspace, so a public fork in another one is read
 * without it.
 */
function forkAccess(from: string, to: string, own: SourceAccess, webUrl: string): SourceAccess {
  const [workspace = '', repository = ''] = from.split('/');
  const credentials = workspace === to.split('/')[0] ? own.credentials : undefined;
  const origin = `${trimSlash(webUrl)}${pathOf(workspace, repository)}.git`;
  return { origin, credentials, flowOwner: own.flowOwner };
}

/** Returns the key of a status; Bitbucket accepts 40 characters. */
export function statusKey(context: string): string {
  return context.length <= 40 ? context : createHash('sha256').update(context).digest('hex').slice(0, 40);
}

/** Parses the header with an access token's scopes, a list separated by commas or spaces. */
export function capabilitiesOf(header: string | undefined): Capabilities {
  const scopes = header?.split(/[\s,]+/).filter(Boolean);
  const has = (...any: string[]) => scopes && any.some((scope) => scopes.includes(scope));
  return {
    statuses: has('repository', 'repository:write', 'repository:admin', 'write:repository:bitbucket'),
    hooks: has('webhook', 'repository:admin', 'write:webhook:bitbucket'),
  };
}
