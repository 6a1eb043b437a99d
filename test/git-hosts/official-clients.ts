import { Gitlab } from '@gitbeaker/rest';
import { Octokit } from '@octokit/rest';
import * as azure from 'azure-devops-node-api';
import git from 'azure-devops-node-api/interfaces/GitInterfaces.js';
import { Bitbucket } from './bitbucket-package.ts';
import { withoutNulls, type TypedAnswer } from './published-types.ts';

/** The repository for the clients: pull request 1 is from a branch, 2 from a fork, 3 is closed. */
export interface HostRepository {
  url: string;
  path: string;
  token: string;
  commit: string;
}

const { GitStatusState, PullRequestStatus } = git;
const targetUrl = 'http://page.example.com/';
const hookUrl = 'http://127.0.0.1:9/hook';

function expectNumbers(what: string, numbers: readonly unknown[]): void {
  if (numbers.join() !== '1,2') throw new Error(`${what}: ${numbers.join()} instead of 1,2`);
}

export async function readAsOwnerhost({ url, path, token, commit }: HostRepository): Promise<TypedAnswer[]> {
  const { rest, paginate } = new Octokit({ baseUrl: `${url}/api/v3`, auth: token });
  const [owner = '', repo = ''] = path.split('/');
  const at = { owner, repo };
  const repository = await rest.repos.get(at);
  const pulls = await paginate(rest.pulls.list, { ...at, state: 'open', per_page: 1 });
  expectNumbers(
    'open pull requests',
    pulls.map(({ number }) => number),
  );
  const pull = await rest.pulls.get({ ...at, pull_number: 2 });
  const status = { state: 'success', context: 'c', description: 'd', target_url: targetUrl } as const;
  const created = await rest.repos.createCommitStatus({ ...at, sha: commit, ...status });
  const comment = await rest.issues.createComment({ ...at, issue_number: 1, body: 'good' });
  const edited = await rest.issues.updateComment({ ...at, comment_id: comment.data.id, body: 'better' });
  const comments = await rest.issues.listComments({ ...at, issue_number: 1 });
  const hook = await rest.repos.createWebhook({ ...at, config: { url: hookUrl, secret: 's' }, events: ['push'] });
  const hooks = await rest.repos.listWebhooks(at);
  const hook_id = hook.data.id;
  const newHook = await rest.repos.updateWebhook({ ...at, hook_id, config: { url: hookUrl }, events: ['push'] });
  await rest.repos.deleteWebhook({ ...at, hook_id });
  const from = "import type { components } from '@octokit/openapi-types';";
  const typed = (name: string, schema: string, value: unknown, array = '') => ({
    name: `ownerhost ${name}`,
    from,
    type: `components['schemas']['${schema}']${array}`,
    value,
  });
  return [
    typed('repository', 'full-repository', repository.data),
    typed('pull requests', 'pull-request-simple', pulls, '[]'),
    typed('pull request', 'pull-request', pull.data),
    typed('status', 'status', created.data),
    typed('comment', 'issue-comment', comment.data),
    typed('edited comment', 'issue-comment', edited.data),
    typed('comments', 'issue-comment', comments.data, '[]'),
    typed('hook', 'hook', hook.data),
    typed('hooks', 'hook', hooks.data, '[]'),
    typed('edited hook', 'hook', newHook.data),
  ];
}

export async function readAsGroupedhost({ url, path, token, commit }: HostRepository): Promise<TypedAnswer[]> {
  const gitlab = new Gitlab({ host: url, token });
  const project = await gitlab.Projects.show(path);
  const pulls = await gitlab.MergeRequests.all({ projectId: path, state: 'opened', perPage: 1 });
  expectNumbers(
    'open merge requests',
    pulls.map(({ iid }) => iid),
  );
  const pull = await gitlab.MergeRequests.show(path, 2);
  const status = await gitlab.Commits.editStatus(path, commit, 'success', { name: 'c', targetUrl });
  const note = await gitlab.MergeRequestNotes.create(path, 1, 'good');
  const edited = await gitlab.MergeRequestNotes.edit(path, 1, note.id, { body: 'better' });
  const notes = await gitlab.MergeRequestNotes.all(path, 1);
  const hook = await gitlab.ProjectHooks.add(path, hookUrl, { pushEvents: true, token: 's' });
  const hooks = await gitlab.ProjectHooks.all(path);
  const newHook = await gitlab.ProjectHooks.edit(path, hook.id, hookUrl, { mergeRequestsEvents: true });
  await gitlab.ProjectHooks.remove(path, hook.id);
  const from = "import type * as gitlab from '@gitbeaker/core';";
  const typed = (name: string, type: string, value: unknown) => ({ name: `groupedhost ${name}`, from, type, value });
  // The package's project type has the fields of all editions, and its hook a projectId that no edition returns.
  const memberNames = Object.keys(project).filter((name) => name !== 'permissions');
  const known = memberNames.map((name) => JSON.stringify(name)).join(' | ');
  const { permissions, ...projectRest } = project;
  const hookType = "Omit<gitlab.ExpandedHookSchema, 'disabled_until'>";
  // Null where the package's type says absent.
  const withoutEnd = (one: object) =>
    Object.fromEntries(Object.entries(one).filter(([member]) => member !== 'disabled_until'));
  return [
    typed('project', `Pick<gitlab.ProjectSchema, ${known}>`, projectRest),
    typed('access', "gitlab.ProjectSchema['permissions']['project_access']", permissions.project_access),
    typed('merge requests', 'gitlab.MergeRequestSchemaWithBasicLabels[]', pulls),
    typed('merge request', 'gitlab.ExpandedMergeRequestSchema', pull),
    typed('status', "Omit<gitlab.CommitStatusSchema, 'started_at' | 'finished_at'>", status),
    typed('note', 'gitlab.MergeRequestNoteSchema', note),
    typed('edited note', 'gitlab.MergeRequestNoteSchema', edited),
    typed('notes', 'gitlab.MergeRequestNoteSchema[]', notes),
    typed('hook', hookType, withoutEnd(hook)),
    typed('hooks', `(${hookType})[]`, hooks.map(withoutEnd)),
    typed('edited hook', hookType, withoutEnd(newHook)),
  ];
}

export async function readAsCloudorg({ url, path, token, commit }: HostRepository): Promise<TypedAnswer[]> {
  const [organization = '', project = '', name = ''] = path.split('/');
  const connection = new azure.WebApi(`${url}/${organization}`, azure.getPersonalAccessTokenHandler(token));
  const git = await connection.getGitApi();
  const repository = await git.getRepository(name, project);
  const page = (skip: number) =>
    git.getPullRequests(name, { status: PullRequestStatus.Active }, project, undefined, skip, 1);
  const pulls = [...(await page(0)), ...(await page(1)), ...(await page(2))];
  expectNumbers(
    'active pull requests',
    pulls.map(({ pullRequestId }) => pullRequestId),
  );
  const pull = await git.getPullRequest(name, 2, project);
  const wanted = {
    state: GitStatusState.Succeeded,
    context: { name: 'c', genre: 'coppice' },
    description: 'd',
    targetUrl,
  };
  const status = await git.createCommitStatus(wanted, commit, name, project);
  const thread = await git.createThread({ comments: [{ content: 'good' }] }, name, 1, project);
  const edited = await git.updateComment({ content: 'better' }, name, 1, thread.id ?? 0, 1, project);
  const threads = await git.getThreads(name, 1, project);
  const from = "import type * as azure from 'azure-devops-node-api/interfaces/GitInterfaces.js';";
  const typed = (what: string, type: string, value: unknown) => ({
    name: `cloudorg ${what}`,
    from,
    type,
    value: withoutNulls(value),
  });
  return [
    typed('repository', 'azure.GitRepository', repository),
    typed('pull requests', 'azure.GitPullRequest[]', pulls),
    typed('pull request', 'azure.GitPullRequest', pull),
    typed('status', 'azure.GitStatus', status),
    typed('thread', 'azure.GitPullRequestCommentThread', thread),
    typed('edited comment', 'azure.Comment', edited),
    typed('threads', 'azure.GitPullRequestCommentThread[]', threads),
  ];
}

export async function readAsWorkspacehost({ url, path, token, commit }: HostRepository): Promise<TypedAnswer[]> {
  const bitbucket = new Bitbucket({ baseUrl: `${url}/2.0`, auth: { token }, notice: false });
  const [workspace = '', repo_slug = ''] = path.split('/');
  const at = { workspace, repo_slug };
  const repository = await bitbucket.repositories.get(at);
  const first = await bitbucket.pullrequests.list({ ...at, state: 'OPEN', pagelen: 1 });
  const next = await bitbucket.getNextPage(first.data);
  const pulls = [...(first.data.values ?? []), ...(next.data.values ?? [])];
  expectNumbers(
    'open pull requests',
    pulls.map(({ id }) => id),
  );
  const pull = await bitbucket.pullrequests.get({ ...at, pull_request_id: 2 });
  const status = await bitbucket.commitstatuses.createBuildStatus({
    ...at,
    commit,
    _body: { type: 'build', key: 'c', state: 'SUCCESSFUL', url: targetUrl },
  });
  const comment = await bitbucket.pullrequests.createComment({
    ...at,
    pull_request_id: 1,
    _body: { type: 'pullrequest_comment', content: { raw: 'good' } },
  });
  const edited = await bitbucket.pullrequests.updateComment({
    ...at,
    pull_request_id: 1,
    comment_id: comment.data.id ?? 0,
    _body: { type: 'pullrequest_comment', content: { raw: 'better' } },
  });
  const comments = await bitbucket.pullrequests.listComments({ ...at, pull_request_id: 1 });
  const hook = await bitbucket.repositories.createWebhook({
    ...at,
    _body: { type: 'webhook', description: 'Coppice', url: hookUrl, events: ['repo:push'], active: true, secret: 's' },
  });
  const hooks = await bitbucket.repositories.listWebhooks(at);
  await bitbucket.repositories.deleteWebhook({ ...at, uid: hook.data.uuid ?? '' });
  const from = "import type { Schema } from 'bitbucket';";
  const typed = (what: string, type: string, value: unknown) => ({
    name: `workspacehost ${what}`,
    from,
    type: `Schema.${type}`,
    value: withoutNulls(value),
  });
  return [
    typed('repository', 'Repository', repository.data),
    typed('page of pull requests', 'PaginatedPullrequests', first.data),
    typed('pull request', 'Pullrequest', pull.data),
    typed('status', 'Commitstatus', status.data),
    typed('comment', 'PullrequestComment', comment.data),
    typed('edited comment', 'PullrequestComment', edited.data),
    typed('comments', 'PaginatedPullrequestComments', comments.data),
    typed('hook', 'WebhookSubscription', hook.data),
    typed('hooks', 'PaginatedWebhookSubscriptions', hooks.data),
  ];
}
