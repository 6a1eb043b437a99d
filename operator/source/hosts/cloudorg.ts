import { z } from 'zod';
import { SourceRefusedError } from '../errors.ts';
import type { Source, SourceAccess } from '../git/source.ts';
import { CloudorgHooks } from './cloudorg-hooks.ts';
import {
  commitSchema,
  factSchemas,
  lastLineSchema,
  isReadableRef,
  nameSchema,
  numberSchema,
  shortBranch,
} from './field-schemas.ts';
import { HostApi, pathOf, trimSlash } from './host-api.ts';
import type { HostHttp } from './host-http.ts';
import { listSchema, MAX_PER_PAGE, MAX_UNPAGED } from './list-schema.ts';
import type {
  Capabilities,
  CommentLocation,
  CommitStatus,
  GitHost,
  ListedPullRequest,
  PullRequest,
  Webhook,
} from './host.ts';
import { writeMarkedComment, type FoundComment } from './marked-comment.ts';
import type { Page } from './pages.ts';

export interface CloudorgOptions {
  http: HostHttp;
  source: Pick<Source, 'check'>;
  /** URL of the organization, such as https://dev.azure.com/acme. */
  orgUrl: string;
  project: string;
  repoName: string;
  token: string;
  flowOwner?: SourceAccess['flowOwner'];
}

const repositorySchema = z.object({ id: nameSchema, project: z.object({ id: nameSchema }) });
export const pullRequestSchema = z.object({
  pullRequestId: numberSchema,
  sourceRefName: z.string().regex(/^refs\/./),
  targetRefName: factSchemas.branch,
  isDraft: factSchemas.flag,
  // In lists only, and absent without labels.
  labels: factSchemas.namedLabels,
  lastMergeSourceCommit: z.object({ commitId: commitSchema }).nullish(),
  forkSource: z
    .object({ repository: z.object({ name: nameSchema, project: z.object({ name: nameSchema }) }).nullish() })
    .nullish(),
});
const listOf = <T extends z.ZodType>(item: T, max: number) => z.object({ value: listSchema(item, max) });
const threadSchema = z.object({
  id: z.int(),
  isDeleted: z.boolean().nullish(),
  comments: listSchema(
    z.object({ id: z.int(), content: lastLineSchema.nullish(), isDeleted: z.boolean().nullish() }),
    MAX_UNPAGED,
  ).nullish(),
});
const anySchema = z.object({});

const revision = 'api-version=7.1';
const pageSize = 100;
const states = { pending: 'pending', success: 'succeeded', failure: 'failed', error: 'error' } as const;
/** A CommentThreadStatus: a branch policy can require every open thread to be resolved before a merge. */
const closed = 4;
/** A CommentType. */
const text = 1;

/** A repository at Azure DevOps: https://learn.microsoft.com/rest/api/azure/devops/git/ */
export class CloudorgHost implements GitHost {
  readonly access: SourceAccess;
  readonly webUrl: string;
  readonly #api: HostApi;
  readonly #options: CloudorgOptions;

  constructor(options: CloudorgOptions) {
    const { http, orgUrl, project, repoName, token } = options;
    this.#options = options;
    this.webUrl = repositoryUrl(orgUrl, project, repoName);
    this.access = {
      origin: this.webUrl,
      credentials: { username: 'coppice', password: token },
      flowOwner: options.flowOwner,
    };
    const basic = Buffer.from(`:${token}`).toString('base64');
    const headers = { authorization: `Basic ${basic}` };
    // Azure DevOps responds to a missing organization with an HTML page.
    this.#api = new HostApi({ http, baseUrl: trimSlash(orgUrl), headers, isPage404Own: true, explain: explainSignIn });
  }

  async check(): Promise<Capabilities> {
    await this.#api.get(`${this.#path()}?${revision}`, repositorySchema);
    await this.#options.source.check(this.access);
    return { statuses: undefined, hooks: undefined };
  }

  async repositoryId(): Promise<string> {
    return (await this.#api.get(`${this.#path()}?${revision}`, repositorySchema)).id;
  }

  async openPullRequests(): Promise<readonly ListedPullRequest[]> {
    const path = `${this.#path('pullrequests')}?searchCriteria.status=active&$top=${pageSize}&$skip=0&${revision}`;
    const readPage = async (url: URL): Promise<Page<z.infer<typeof pullRequestSchema>>> => {
      const { value } = (await this.#api.readLong(url, listOf(pullRequestSchema, MAX_PER_PAGE))).value;
      return { items: value, next: value.length < pageSize ? undefined : skipped(url) };
    };
    const found = await this.#api.list(path, readPage, ({ pullRequestId }) => pullRequestId);
    return found.map((one) => ({ ...this.#toPullRequest(one), facts: factsOf(one) }));
  }

  async pullRequest(number: number): Promise<PullRequest> {
    return this.#toPullRequest(
      await this.#api.get(`${this.#path('pullrequests', number)}?${revision}`, pullRequestSchema),
    );
  }

  #toPullRequest(found: z.infer<typeof pullRequestSchema>): PullRequest {
    return toPullRequest(found, this.access, this.#options.orgUrl);
  }

  async setStatus(commit: string, { context, state, description, targetUrl }: CommitStatus): Promise<boolean> {
    const body = { state: states[state], description, targetUrl, context: statusContext(context) };
    await this.#api.write('POST', `${this.#path('commits', commit, 'statuses')}?${revision}`, body, anySchema);
    return true;
  }

  /** The ID of a comment is THREAD/COMMENT. Azure DevOps never permits changing the comments of others. */
  comment(location: CommentLocation, body: string): Promise<string> {
    const path = this.#path('pullRequests', location.pullRequest, 'threads');
    const comments = {
      own: () => this.#comments(path),
      create: async (content: string) => {
        const thread = { comments: [{ parentCommentId: 0, content, commentType: text }], status: closed };
        const { id, comments: made } = await this.#api.write('POST', `${path}?${revision}`, thread, threadSchema);
        return `${id}/${made?.[0]?.id ?? 1}`;
      },
      update: async (id: string, content: string) => {
        const [thread = '', comment = ''] = id.split('/');
        const at = `${path}${pathOf(thread, 'comments', comment)}?${revision}`;
        await this.#api.write('PATCH', at, { content }, anySchema);
      },
    };
    return writeMarkedComment(comments, location, body);
  }

  async #comments(path: string): Promise<FoundComment[]> {
    const { value } = await this.#api.getLong(`${path}?${revision}`, listOf(threadSchema, MAX_UNPAGED));
    return value
      .filter(({ isDeleted }) => isDeleted !== true)
      .flatMap((thread) =>
        (thread.comments ?? [])
          .filter(({ isDeleted }) => isDeleted !== true)
          .map(({ id, content }) => ({ id: `${thread.id}/${id}`, lastLine: content ?? '' })),
      );
  }

  /** Azure DevOps reports only the permissions of the token's own user. */
  writtenComment(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async ensureWebhook(webhook: Webhook): Promise<string | undefined> {
    const { id, project } = await this.#api.get(`${this.#path()}?${revision}`, repositorySchema);
    return new CloudorgHooks(this.#api).ensure(webhook, { projectId: project.id, repository: id });
  }

  removeWebhook(id: string): Promise<void> {
    return new CloudorgHooks(this.#api).remove(id);
  }

  #path(...parts: (string | number)[]): string {
    const { project, repoName } = this.#options;
    return pathOf(project, '_apis', 'git', 'repositories', repoName, ...parts);
  }
}

function repositoryUrl(orgUrl: string, project: string, repository: string): string {
  return trimSlash(orgUrl) + pathOf(project, '_git', repository);
}

/**
 * Azure DevOps has no ref for a pull request's head: its commits are in the source branch, which may be in a fork in
 * the same organization.
 */
export function toPullRequest(
  { pullRequestId: number, sourceRefName, lastMergeSourceCommit, forkSource }: z.infer<typeof pullRequestSchema>,
  own: SourceAccess,
  orgUrl: string,
): PullRequest {
  const fork = forkSource?.repository;
  const origin = fork ? repositoryUrl(orgUrl, fork.project.name, fork.name) : own.origin;
  const isFork = forkSource !== null && forkSource !== undefined;
  // The commits of a deleted fork are not available: a branch of the same name in the repository is unrelated.
  const isNowhere = (isFork && !fork) || !isReadableRef(sourceRefName);
  const refName = isNowhere ? `refs/pull/${number}/head` : sourceRefName;
  return {
    number,
    commit: lastMergeSourceCommit?.commitId,
    isFork,
    sourceBranch: shortBranch(sourceRefName),
    location: { access: { ...own, origin }, refName },
  };
}

/** Reads a pull request of a list: the response with a single one never has labels. */
export function factsOf(found: z.infer<typeof pullRequestSchema>): ListedPullRequest['facts'] {
  return {
    labels: (found.labels ?? []).map(({ name }) => name),
    targetBranch: shortBranch(found.targetRefName),
    sourceBranch: shortBranch(found.sourceRefName),
    isDraft: found.isDraft ?? undefined,
  };
}

/** Azure DevOps shows a status as GENRE/NAME. */
export function statusContext(context: string): { genre?: string; name: string } {
  const [first = '', ...rest] = context.split('/');
  return rest.length === 0 ? { name: first } : { genre: first, name: rest.join('/') };
}

function skipped(url: URL): URL {
  const next = new URL(url);
  next.searchParams.set('$skip', String(Number(url.searchParams.get('$skip')) + pageSize));
  return next;
}

/** Azure DevOps responds to an invalid token with a login page or a redirect to it. */
function explainSignIn(status: number): Error | undefined {
  if (status !== 203 && status !== 302) return undefined;
  return new SourceRefusedError(
    'AuthenticationFailed',
    'the organization requires signing in. Use a personal access token that is valid and has not expired',
  );
}
