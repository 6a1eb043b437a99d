import { z } from 'zod';
import { SourceRefusedError } from '../errors.ts';
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

export interface GroupedhostOptions {
  http: HostHttp;
  source: Pick<Source, 'check'>;
  /** Address for browsers and git, such as https://gitlab.com; the API is below /api/v4. */
  webUrl: string;
  /** Path of the groups: a/b/c. */
  group: string;
  project: string;
  token: string;
  flowOwner?: SourceAccess['flowOwner'];
}

const accessSchema = z.object({ access_level: z.int() }).nullish();
const projectSchema = z.object({
  id: z.int(),
  permissions: z.object({ project_access: accessSchema, group_access: accessSchema }).optional(),
});
type ProjectAnswer = z.infer<typeof projectSchema>;
const tokenSchema = z.object({ scopes: listSchema(z.string(), MAX_PER_PAGE) });

export const mergeRequestSchema = z.object({
  iid: numberSchema,
  // Null while GitLab reads the branch.
  sha: commitSchema.nullish(),
  // Null when the fork was deleted.
  source_project_id: z.int().nullish(),
  target_project_id: z.int(),
  source_branch: factSchemas.branch,
  target_branch: factSchemas.branch,
  labels: factSchemas.labels,
  draft: factSchemas.flag,
  author: factSchemas.id,
});
const noteSchema = z.object({ id: z.int(), body: lastLineSchema, author: z.object({ id: z.int() }).nullish() });
const writtenSchema = z.object({
  body: z.string(),
  system: z.boolean(),
  author: z.object({ id: z.int(), username: z.string() }),
});
const memberSchema = z.object({ id: z.int(), access_level: z.int(), state: z.string() });
const idSchema = z.object({ id: z.int() });
const hookSchema = z.object({ id: z.int(), url: z.string() });
const statusSchema = z.object({ id: z.int(), name: z.string(), status: z.string() });

/** Authors whose roles are requested in one sync. */
const maxAuthors = 5 * MAX_PER_PAGE;
const developer = 30;
const maintainer = 40;
const states = { pending: 'pending', success: 'success', failure: 'failed', error: 'failed' } as const;

/** A project at gitlab.com or a self-hosted GitLab: https://docs.gitlab.com/api/rest/ */
export class GroupedhostHost implements GitHost {
  readonly access: SourceAccess;
  readonly webUrl: string;
  readonly #api: HostApi;
  readonly #options: GroupedhostOptions;

  constructor(options: GroupedhostOptions) {
    const { http, webUrl, group, project, token } = options;
    this.#options = options;
    this.webUrl = trimSlash(webUrl) + pathOf(...group.split('/'), project);
    this.access = {
      origin: `${this.webUrl}.git`,
      credentials: { username: 'oauth2', password: token },
      flowOwner: options.flowOwner,
    };
    this.#api = new HostApi({ http, baseUrl: `${trimSlash(webUrl)}/api/v4`, headers: { 'private-token': token } });
  }

  async check(): Promise<Capabilities> {
    const project = await this.#api.get(this.#path(), projectSchema);
    // Merge requests can be disabled, or be visible only to members.
    await this.#api.get(`${this.#path('merge_requests')}?state=opened&per_page=1`, listSchema(idSchema, MAX_PER_PAGE));
    await this.#options.source.check(this.access);
    // Not every kind of token can read its own permissions, and not every GitLab version has this endpoint.
    const self = await unlessNotAllowed(
      () => this.#api.get('/personal_access_tokens/self', tokenSchema),
      ['AuthenticationFailed', 'Forbidden', 'NotFound', 'Refused'],
    );
    return capabilitiesOf(project, self?.scopes);
  }

  async repositoryId(): Promise<string> {
    return String((await this.#api.get(this.#path(), projectSchema)).id);
  }

  async openPullRequests({ authors = false } = {}): Promise<readonly ListedPullRequest[]> {
    const path = `${this.#path('merge_requests')}?state=opened&per_page=50`;
    const found = await this.#api.linkedList(path, mergeRequestSchema, ({ iid }) => iid);
    const members = authors ? await this.#membersOf(found.flatMap(({ author }) => author?.id ?? [])) : undefined;
    return found.map((one) => {
      const isMember = members?.get(one.author?.id ?? 0);
      const author = isMember === undefined ? undefined : { isMember };
      return { ...toPullRequest(one, this.access), facts: { ...factsOf(one), author } };
    });
  }

  /**
   * Returns which of the users can push; undefined if the token cannot see who is a member. Users beyond a
   * limit are unknown: strangers who open merge requests must not cost any number of requests.
   */
  async #membersOf(users: readonly number[]): Promise<ReadonlyMap<number, boolean> | undefined> {
    const distinct = [...new Set(users)].slice(0, maxAuthors);
    const members = new Map(distinct.map((id) => [id, false]));
    for (let from = 0; from < distinct.length; from += MAX_PER_PAGE) {
      const ids = distinct.slice(from, from + MAX_PER_PAGE).join(',');
      const path = `${this.#path('members', 'all')}?user_ids=${ids}&per_page=${MAX_PER_PAGE}`;
      const found = await unlessNotAllowed(
        () => this.#api.linkedList(path, memberSchema, ({ id }) => id),
        ['Forbidden', 'NotFound', 'Refused'],
      );
      if (!found) return undefined;
      for (const member of found) if (canPush(member)) members.set(member.id, true);
    }
    return members;
  }

  async pullRequest(number: number): Promise<PullRequest> {
    return toPullRequest(await this.#api.get(this.#path('merge_requests', number), mergeRequestSchema), this.access);
  }

  /** Sets a commit status. GitLab refuses one that does not change; then the current status is compared. */
  async setStatus(commit: string, { context, state, description, targetUrl }: CommitStatus): Promise<boolean> {
    const wanted = states[state];
    const body = { state: wanted, name: context, description: description.slice(0, 255), target_url: targetUrl };
    try {
      await this.#api.write('POST', this.#path('statuses', commit), body, idSchema);
    } catch (error) {
      if (!(error instanceof SourceRefusedError) || error.reason !== 'Refused') throw error;
      const query = new URLSearchParams({ name: context, per_page: '100' }).toString();
      const path = `${this.#path('repository', 'commits', commit, 'statuses')}?${query}`;
      const statuses = await this.#api.linkedList(path, statusSchema, ({ id }) => id);
      if (!statuses.some(({ name, status }) => name === context && status === wanted)) throw error;
    }
    return true;
  }

  comment(location: CommentLocation, body: string): Promise<string> {
    const path = this.#path('merge_requests', location.pullRequest, 'notes');
    const comments = {
      own: () => this.#ownComments(path),
      create: async (text: string) => String((await this.#api.write('POST', path, { body: text }, idSchema)).id),
      update: async (id: string, text: string) => {
        await this.#api.write('PUT', path + pathOf(id), { body: text }, idSchema);
      },
    };
    return writeMarkedComment(comments, location, body);
  }

  /**
   * Returns the comments of the token's user; none if the token cannot read its user. A maintainer can change the
   * comments of others, so the host would not refuse it.
   */
  async #ownComments(path: string): Promise<FoundComment[]> {
    const myId = (await unlessNotAllowed(() => this.#api.get('/user', idSchema)))?.id;
    if (myId === undefined) return [];
    const notes = await this.#api.linkedList(`${path}?per_page=100`, noteSchema, ({ id }) => id);
    return notes
      .filter(({ author }) => author?.id === myId)
      .map(({ id, body }) => ({ id: String(id), lastLine: body }));
  }

  async writtenComment(pullRequest: number, id: string): Promise<WrittenComment | undefined> {
    const path = this.#path('merge_requests', pullRequest, 'notes', id);
    const note = await unlessNotAllowed(() => this.#api.get(path, writtenSchema), ['NotFound']);
    if (!note || note.system) return undefined;
    // Also members of groups, and of groups that the project was shared with; others are not found.
    const member = await unlessNotAllowed(
      () => this.#api.get(this.#path('members', 'all', note.author.id), memberSchema),
      ['NotFound'],
    );
    const canWrite = member?.id === note.author.id && canPush(member);
    return { body: note.body, author: note.author.username, canWrite };
  }

  ensureWebhook({ url, secret, comments = false }: Webhook): Promise<string | undefined> {
    const path = this.#path('hooks');
    const body = {
      url,
      token: secret,
      push_events: true,
      tag_push_events: true,
      merge_requests_events: true,
      note_events: comments,
      enable_ssl_verification: true,
    };
    return unlessNotAllowed(async () => {
      const hooks = await this.#api.linkedList(`${path}?per_page=100`, hookSchema, ({ id }) => id);
      const found = hooks.find((hook) => hook.url === url);
      const { id } = found
        ? await this.#api.write('PUT', path + pathOf(found.id), body, hookSchema)
        : await this.#api.write('POST', path, body, hookSchema);
      return String(id);
    });
  }

  async removeWebhook(id: string): Promise<void> {
    await unlessNotAllowed(() => this.#api.delete(this.#path('hooks', id)));
  }

  #path(...parts: (string | number)[]): string {
    return pathOf('projects', `${this.#options.group}/${this.#options.project}`, ...parts);
  }
}

function canPush({ state, access_level: level }: z.infer<typeof memberSchema>): boolean {
  return state === 'active' && level >= developer;
}

export function toPullRequest(found: z.infer<typeof mergeRequestSchema>, access: SourceAccess): PullRequest {
  return {
    number: found.iid,
    commit: found.sha ?? undefined,
    isFork: found.source_project_id !== found.target_project_id,
    sourceBranch: found.source_branch ?? undefined,
    location: { access, refName: `refs/merge-requests/${found.iid}/head` },
  };
}

export function factsOf(found: z.infer<typeof mergeRequestSchema>): ListedPullRequest['facts'] {
  return {
    labels: found.labels ?? undefined,
    targetBranch: found.target_branch ?? undefined,
    sourceBranch: found.source_branch ?? undefined,
    isDraft: found.draft ?? undefined,
  };
}

/**
 * Derives capabilities from the role in the project or its groups, and from the scope `api`; administrators have no
 * role and all permissions.
 */
export function capabilitiesOf(
  { permissions }: Pick<ProjectAnswer, 'permissions'>,
  scopes: readonly string[] | undefined,
): Capabilities {
  const levels = [permissions?.project_access?.access_level, permissions?.group_access?.access_level];
  const level = Math.max(...levels.map((one) => one ?? 0));
  const may = (needed: number) => {
    if (scopes && !scopes.includes('api')) return false;
    if (level === 0) return undefined;
    return level < needed ? false : scopes && true;
  };
  return { statuses: may(developer), hooks: may(maintainer) };
}
