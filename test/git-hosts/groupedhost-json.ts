import { firstParts, lastPart } from './kind.ts';
import type { Comment, Grant, Hook, HostedRepository, PullRequest, Role, Status } from './repositories.ts';

// GitLab's JSON, by its published types (https://docs.gitlab.com/api; the types of @gitbeaker/core).

export const apiOf = (base: string, { id }: HostedRepository): string => `${base}/api/v4/projects/${id}`;

export function userJson(base: string, username: string): object {
  const web_url = `${base}/${username}`;
  return { id: userId(username), username, name: username, state: 'active', avatar_url: `${base}/avatar.png`, web_url };
}

export function userId(username: string): number {
  return Buffer.from(username).reduce((sum, byte) => (sum * 31 + byte) % 1_000_000, 7);
}

const levels = { admin: 50, write: 30, read: 20 } as const;

export function memberJson(base: string, username: string, role: Role): object {
  return {
    ...userJson(base, username),
    access_level: levels[role],
    created_at: '2026-01-01T00:00:00Z',
    expires_at: null,
  };
}

/** Returns GitLab's level: 20 Reporter, 30 Developer, 40 Maintainer. */
function accessLevel(grants: ReadonlySet<Grant>): number {
  if (grants.has('hooks')) return 40;
  return grants.has('push') || grants.has('statuses') ? 30 : 20;
}

export function projectJson(
  base: string,
  repository: HostedRepository,
  grants: ReadonlySet<Grant> | undefined,
): object {
  const { id, path, isPrivate, createdAt } = repository;
  const group = firstParts(path);
  const web_url = `${base}/${path}`;
  return {
    id,
    description: null,
    name: lastPart(path),
    name_with_namespace: path.replaceAll('/', ' / '),
    path: lastPart(path),
    path_with_namespace: path,
    created_at: createdAt,
    default_branch: repository.defaultBranch,
    topics: [],
    ssh_url_to_repo: `git@${new URL(base).host}:${path}.git`,
    http_url_to_repo: `${web_url}.git`,
    web_url,
    readme_url: null,
    forks_count: 0,
    avatar_url: null,
    star_count: 0,
    last_activity_at: createdAt,
    namespace: {
      id: 3,
      name: lastPart(group),
      path: lastPart(group),
      kind: 'group',
      full_path: group,
      parent_id: null,
      avatar_url: null,
      web_url: `${base}/groups/${group}`,
    },
    visibility: isPrivate ? 'private' : 'public',
    empty_repo: false,
    archived: false,
    merge_requests_enabled: true,
    jobs_enabled: true,
    ...(grants && {
      permissions: { project_access: { access_level: accessLevel(grants), notification_level: 3 }, group_access: null },
    }),
  };
}

export function mergeRequestJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  const author = userJson(base, firstParts(pull.from.path));
  const isClosed = pull.state === 'closed';
  return {
    id: repository.id * 1000 + pull.number,
    iid: pull.number,
    project_id: repository.id,
    title: pull.title,
    description: null,
    state: isClosed ? 'closed' : 'opened',
    created_at: pull.createdAt,
    updated_at: pull.updatedAt,
    merged_by: null,
    merged_at: null,
    closed_by: isClosed ? author : null,
    closed_at: isClosed ? pull.updatedAt : null,
    target_branch: pull.target,
    source_branch: pull.branch,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    author,
    assignees: [],
    assignee: null,
    reviewers: [],
    source_project_id: pull.from.id,
    target_project_id: repository.id,
    labels: pull.labels,
    draft: pull.isDraft,
    work_in_progress: pull.isDraft,
    milestone: null,
    merge_when_pipeline_succeeds: false,
    merge_status: 'can_be_merged',
    detailed_merge_status: 'mergeable',
    sha: pull.commit,
    merge_commit_sha: null,
    squash_commit_sha: null,
    discussion_locked: null,
    should_remove_source_branch: null,
    force_remove_source_branch: false,
    reference: `!${pull.number}`,
    references: { short: `!${pull.number}`, relative: `!${pull.number}`, full: `${repository.path}!${pull.number}` },
    web_url: `${base}/${repository.path}/-/merge_requests/${pull.number}`,
    time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
    squash: false,
    task_completion_status: { count: 0, completed_count: 0 },
    prepared_at: pull.createdAt,
    has_conflicts: false,
    blocking_discussions_resolved: true,
    approvals_before_merge: null,
  };
}

/** Adds the fields that only the merge request's own endpoint returns. */
export function fullMergeRequestJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  return {
    ...mergeRequestJson(base, repository, pull),
    subscribed: false,
    changes_count: '1',
    latest_build_started_at: null,
    latest_build_finished_at: null,
    first_deployed_to_production_at: null,
    pipeline: null,
    head_pipeline: null,
    diff_refs: { base_sha: pull.targetCommit, head_sha: pull.commit, start_sha: pull.targetCommit },
    merge_error: null,
    first_contribution: false,
    user: { can_merge: false },
  };
}

export function statusJson(base: string, repository: HostedRepository, status: Status): object {
  return {
    id: status.id,
    sha: status.commit,
    ref: repository.defaultBranch,
    status: status.state,
    name: status.context,
    target_url: status.targetUrl,
    description: status.description,
    created_at: status.createdAt,
    started_at: null,
    finished_at: null,
    allow_failure: false,
    coverage: null,
    author: userJson(base, 'token'),
  };
}

export function noteJson(base: string, repository: HostedRepository, comment: Comment): object {
  return {
    id: comment.id,
    type: null,
    body: comment.body,
    attachment: null,
    author: userJson(base, comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    system: false,
    noteable_id: repository.id * 1000 + comment.pullRequest,
    noteable_type: 'MergeRequest',
    project_id: repository.id,
    noteable_iid: comment.pullRequest,
    resolvable: false,
    confidential: false,
    internal: false,
  };
}

/** Returns a hook without its token. */
export function hookJson(repository: HostedRepository, hook: Hook): object {
  return {
    id: hook.id,
    url: hook.url,
    project_id: repository.id,
    created_at: hook.createdAt,
    push_events: hook.events.includes('push_events'),
    tag_push_events: hook.events.includes('tag_push_events'),
    merge_requests_events: hook.events.includes('merge_requests_events'),
    repository_update_events: false,
    enable_ssl_verification: true,
    push_events_branch_filter: '',
    issues_events: false,
    confidential_issues_events: false,
    note_events: hook.events.includes('note_events'),
    confidential_note_events: false,
    job_events: false,
    pipeline_events: false,
    wiki_page_events: false,
    deployment_events: false,
    releases_events: false,
    alert_status: 'executable',
    disabled_until: null,
    url_variables: [],
  };
}
