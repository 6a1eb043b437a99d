import { firstParts, lastPart } from './kind.ts';
import type { Comment, Grant, Hook, HostedRepository, PullRequest, Role, Status } from './repositories.ts';

// GitHub's JSON, by its published types (https://docs.github.com/rest; the types of @octokit/openapi-types).

const nodeId = (type: string, id: number): string => Buffer.from(`0${type.length}:${type}${id}`).toString('base64');

function links(base: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`${name}_url`, `${base}/${name}`]));
}

export const apiOf = (base: string, { path }: HostedRepository): string => `${base}/api/v3/repos/${path}`;

const userLinks = ['followers', 'following', 'gists', 'starred', 'subscriptions', 'organizations', 'repos', 'events'];

export function userJson(base: string, login: string): object {
  const id = Buffer.from(login).reduce((sum, byte) => (sum * 31 + byte) % 1_000_000, 7);
  const url = `${base}/api/v3/users/${login}`;
  return {
    login,
    id,
    node_id: nodeId('User', id),
    avatar_url: `${base}/avatars/${id}`,
    gravatar_id: '',
    url,
    html_url: `${base}/${login}`,
    ...links(url, [...userLinks, 'received_events']),
    type: 'User',
    site_admin: false,
  };
}

const repositoryLinks = [
  ...['archive', 'assignees', 'blobs', 'branches', 'collaborators', 'comments', 'commits', 'compare', 'contents'],
  ...['contributors', 'deployments', 'downloads', 'events', 'forks', 'git_commits', 'git_refs', 'git_tags', 'hooks'],
  ...['issue_comment', 'issue_events', 'issues', 'keys', 'labels', 'languages', 'merges', 'milestones', 'pulls'],
  ...['notifications', 'releases', 'stargazers', 'statuses', 'subscribers', 'subscription', 'tags', 'teams', 'trees'],
];

export function repositoryJson(base: string, repository: HostedRepository): object {
  const { id, path, isPrivate, createdAt } = repository;
  const web = `${base}/${path}`;
  const host = new URL(base).host;
  return {
    id,
    node_id: nodeId('Repository', id),
    name: lastPart(path),
    full_name: path,
    license: null,
    forks: 0,
    owner: userJson(base, firstParts(path)),
    private: isPrivate,
    html_url: web,
    description: null,
    fork: repository.forkOf !== undefined,
    url: apiOf(base, repository),
    ...links(apiOf(base, repository), repositoryLinks),
    git_url: `git://${host}/${path}.git`,
    ssh_url: `git@${host}:${path}.git`,
    clone_url: `${web}.git`,
    mirror_url: null,
    svn_url: web,
    homepage: null,
    language: null,
    forks_count: 0,
    stargazers_count: 0,
    watchers_count: 0,
    size: 0,
    default_branch: repository.defaultBranch,
    open_issues_count: 0,
    has_issues: true,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: false,
    disabled: false,
    visibility: isPrivate ? 'private' : 'public',
    pushed_at: createdAt,
    created_at: createdAt,
    updated_at: createdAt,
    open_issues: 0,
    watchers: 0,
  };
}

/** Adds the fields that only the repository's own endpoint returns, and `permissions` for authenticated callers. */
export function fullRepositoryJson(
  base: string,
  repository: HostedRepository,
  grants: ReadonlySet<Grant> | undefined,
): object {
  return {
    ...repositoryJson(base, repository),
    ...(grants && {
      permissions: {
        admin: grants.has('hooks'),
        maintain: grants.has('hooks'),
        push: grants.has('push') || grants.has('statuses'),
        triage: grants.has('comments'),
        pull: true,
      },
    }),
    subscribers_count: 0,
    network_count: 0,
  };
}

function endJson(base: string, repository: HostedRepository, ref: string, sha: string): object {
  const owner = firstParts(repository.path);
  return { label: `${owner}:${ref}`, ref, sha, user: userJson(base, owner), repo: repositoryJson(base, repository) };
}

export function labelJson(base: string, repository: HostedRepository, name: string): object {
  const id = Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 1_000_000, 7);
  const url = `${apiOf(base, repository)}/labels/${encodeURIComponent(name)}`;
  return { id, node_id: nodeId('Label', id), url, name, description: '', color: 'ededed', default: false };
}

function associationOf({ path, people }: HostedRepository, login: string): 'OWNER' | 'COLLABORATOR' | 'NONE' {
  if (login === firstParts(path)) return 'OWNER';
  return people.has(login) ? 'COLLABORATOR' : 'NONE';
}

export function pullJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  const api = apiOf(base, repository);
  const url = `${api}/pulls/${pull.number}`;
  const web = `${base}/${repository.path}/pull/${pull.number}`;
  const issue = `${api}/issues/${pull.number}`;
  const statuses = `${api}/statuses/${pull.commit}`;
  const href = (to: string) => ({ href: to });
  return {
    url,
    id: repository.id * 1000 + pull.number,
    node_id: nodeId('PullRequest', pull.number),
    html_url: web,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    issue_url: issue,
    commits_url: `${url}/commits`,
    review_comments_url: `${url}/comments`,
    review_comment_url: `${api}/pulls/comments{/number}`,
    comments_url: `${issue}/comments`,
    statuses_url: statuses,
    number: pull.number,
    state: pull.state,
    locked: false,
    title: pull.title,
    user: userJson(base, firstParts(pull.from.path)),
    body: null,
    labels: pull.labels.map((name) => labelJson(base, repository, name)),
    milestone: null,
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    closed_at: pull.state === 'closed' ? pull.updatedAt : null,
    merged_at: null,
    merge_commit_sha: null,
    assignee: null,
    draft: pull.isDraft,
    head: endJson(base, pull.from, pull.branch, pull.commit),
    base: endJson(base, repository, pull.target, pull.targetCommit),
    _links: {
      comments: href(`${issue}/comments`),
      commits: href(`${url}/commits`),
      statuses: href(statuses),
      html: href(web),
      issue: href(issue),
      review_comments: href(`${url}/comments`),
      review_comment: href(`${api}/pulls/comments{/number}`),
      self: href(url),
    },
    author_association: associationOf(repository, firstParts(pull.from.path)),
    auto_merge: null,
  };
}

/** Adds the fields that only the pull request's own endpoint returns. */
export function fullPullJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  return {
    ...pullJson(base, repository, pull),
    merged: false,
    mergeable: true,
    mergeable_state: 'clean',
    merged_by: null,
    comments: repository.comments.filter(({ pullRequest }) => pullRequest === pull.number).length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: 1,
    additions: 1,
    deletions: 0,
    changed_files: 1,
  };
}

export function statusJson(base: string, repository: HostedRepository, status: Status): object {
  return {
    url: `${apiOf(base, repository)}/statuses/${status.commit}`,
    avatar_url: null,
    id: status.id,
    node_id: nodeId('Status', status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.createdAt,
    updated_at: status.createdAt,
    creator: userJson(base, 'token'),
  };
}

export function commentJson(base: string, repository: HostedRepository, comment: Comment): object {
  const api = apiOf(base, repository);
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url: `${api}/issues/comments/${comment.id}`,
    html_url: `${base}/${repository.path}/pull/${comment.pullRequest}#issuecomment-${comment.id}`,
    body: comment.body,
    user: userJson(base, comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    issue_url: `${api}/issues/${comment.pullRequest}`,
    author_association: 'OWNER',
  };
}

/** The issue of a pull request, as deliveries about its comments contain it. */
export function issueJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  const web = `${base}/${repository.path}/pull/${pull.number}`;
  const url = `${apiOf(base, repository)}/issues/${pull.number}`;
  return {
    url,
    html_url: web,
    number: pull.number,
    state: pull.state,
    title: pull.title,
    user: userJson(base, firstParts(pull.from.path)),
    pull_request: { url: `${apiOf(base, repository)}/pulls/${pull.number}`, html_url: web },
  };
}

/** GitHub maps the role to one of four permissions. */
export function permissionJson(base: string, login: string, role: Role | undefined): object {
  const permission = role ?? 'none';
  return { permission, role_name: permission, user: { ...userJson(base, login), role_name: permission } };
}

/** Returns a hook without its secret. */
export function hookJson(base: string, repository: HostedRepository, hook: Hook): object {
  const url = `${apiOf(base, repository)}/hooks/${hook.id}`;
  return {
    type: 'Repository',
    id: hook.id,
    name: 'web',
    active: true,
    events: hook.events,
    config: {
      url: hook.url,
      content_type: 'json',
      insecure_ssl: '0',
      ...(hook.secret !== undefined && { secret: '********' }),
    },
    updated_at: hook.createdAt,
    created_at: hook.createdAt,
    url,
    test_url: `${url}/test`,
    ping_url: `${url}/pings`,
    last_response: { code: null, status: 'unused', message: null },
  };
}
