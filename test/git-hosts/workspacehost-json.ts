import { firstParts, lastPart, NO_COMMIT, shortName } from './kind.ts';
import type { RefChange } from './kind.ts';
import type { Comment, Hook, HostedRepository, PullRequest, Status } from './repositories.ts';

// Bitbucket Cloud's JSON, by its published types (the types of the npm package bitbucket).

export const apiOf = (base: string, { path }: HostedRepository): string => `${base}/2.0/repositories/${path}`;
const braced = (uuid: string): string => `{${uuid}}`;
const href = (to: string): object => ({ href: to });

/** Returns an abbreviated commit ID, as Bitbucket returns for pull requests. */
export const shortHash = (commit: string): string => commit.slice(0, 12);

export function accountJson(base: string, name: string): object {
  return {
    type: 'user',
    display_name: name,
    uuid: braced('5c1f2a3e-0000-4000-8000-000000000000'),
    links: {
      self: href(`${base}/2.0/users/${name}`),
      html: href(`${base}/${name}`),
      avatar: href(`${base}/avatar.png`),
    },
  };
}

export function repositoryJson(base: string, repository: HostedRepository): object {
  const { path, uuid, isPrivate, createdAt, forkOf } = repository;
  const api = apiOf(base, repository);
  const linkNames = ['pullrequests', 'commits', 'forks', 'watchers', 'downloads', 'hooks'];
  return {
    type: 'repository',
    uuid: braced(uuid),
    full_name: path,
    name: lastPart(path),
    slug: lastPart(path),
    description: '',
    scm: 'git',
    is_private: isPrivate,
    fork_policy: 'allow_forks',
    has_issues: false,
    has_wiki: false,
    language: '',
    size: 0,
    created_on: createdAt,
    updated_on: createdAt,
    owner: accountJson(base, firstParts(path)),
    mainbranch: { type: 'branch', name: repository.defaultBranch },
    ...(forkOf && { parent: { type: 'repository', full_name: forkOf.path, uuid: braced(forkOf.uuid) } }),
    links: {
      ...Object.fromEntries(linkNames.map((name) => [name, href(`${api}/${name}`)])),
      self: href(api),
      html: href(`${base}/${path}`),
      clone: [{ href: `${base}/${path}.git`, name: 'https' }],
    },
  };
}

function endpointJson(base: string, repository: HostedRepository, name: string, commit: string): object {
  const { path, uuid } = repository;
  const links = { self: href(apiOf(base, repository)), html: href(`${base}/${path}`) };
  return {
    branch: { name },
    commit: { hash: shortHash(commit) },
    repository: { type: 'repository', full_name: path, name: lastPart(path), uuid: braced(uuid), links },
  };
}

export function pullJson(base: string, repository: HostedRepository, pull: PullRequest): object {
  const url = `${apiOf(base, repository)}/pullrequests/${pull.number}`;
  const linkNames = ['activity', 'approve', 'comments', 'commits', 'decline', 'diff', 'diffstat', 'merge'];
  return {
    type: 'pullrequest',
    id: pull.number,
    title: pull.title,
    summary: { raw: '', markup: 'markdown', html: '' },
    state: pull.state === 'open' ? 'OPEN' : 'DECLINED',
    draft: pull.isDraft,
    author: accountJson(base, firstParts(pull.from.path)),
    source: endpointJson(base, pull.from, pull.branch, pull.commit),
    destination: endpointJson(base, repository, pull.target, pull.targetCommit),
    merge_commit: null,
    comment_count: 0,
    task_count: 0,
    close_source_branch: false,
    closed_by: null,
    reason: '',
    created_on: pull.createdAt,
    updated_on: pull.updatedAt,
    links: {
      ...Object.fromEntries(linkNames.map((name) => [name, href(`${url}/${name}`)])),
      self: href(url),
      html: href(`${base}/${repository.path}/pull-requests/${pull.number}`),
    },
  };
}

export function statusJson(base: string, repository: HostedRepository, status: Status): object {
  const commit = `${apiOf(base, repository)}/commit/${status.commit}`;
  return {
    type: 'build',
    key: status.key,
    name: status.context,
    state: status.state,
    description: status.description,
    url: status.targetUrl,
    refname: null,
    created_on: status.createdAt,
    updated_on: status.createdAt,
    links: { self: href(`${commit}/statuses/build/${status.key ?? ''}`), commit: href(commit) },
  };
}

export function commentJson(base: string, repository: HostedRepository, comment: Comment): object {
  const pull = `${apiOf(base, repository)}/pullrequests/${comment.pullRequest}`;
  return {
    type: 'pullrequest_comment',
    id: comment.id,
    content: { raw: comment.body, markup: 'markdown', html: '' },
    user: accountJson(base, 'token'),
    deleted: false,
    pending: false,
    created_on: comment.createdAt,
    updated_on: comment.updatedAt,
    links: { self: href(`${pull}/comments/${comment.id}`) },
  };
}

/** Returns a hook without its secret. */
export function hookJson(base: string, repository: HostedRepository, hook: Hook): object {
  return {
    type: 'webhook_subscription',
    uuid: braced(hook.uuid),
    url: hook.url,
    description: 'Coppice',
    subject_type: 'repository',
    subject: { type: 'repository', full_name: repository.path, uuid: braced(repository.uuid) },
    active: true,
    created_at: hook.createdAt,
    events: hook.events,
    secret_set: hook.secret !== undefined,
    links: { self: href(`${apiOf(base, repository)}/hooks/${encodeURIComponent(braced(hook.uuid))}`) },
  };
}

/** Returns one of a push's changes: the ref's new and old states, either of which can be null. */
export function changeJson({ ref, before, after }: RefChange): object {
  const type = ref.startsWith('refs/tags/') ? 'tag' : 'branch';
  const end = (hash: string) =>
    hash === NO_COMMIT ? null : { type, name: shortName(ref), target: { type: 'commit', hash } };
  return {
    new: end(after),
    old: end(before),
    created: before === NO_COMMIT,
    closed: after === NO_COMMIT,
    forced: false,
  };
}
