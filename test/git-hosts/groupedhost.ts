import { randomUUID } from 'node:crypto';
import { ApiError, byId, linkedPage, optionalText, pullRequestOf, textOf } from './api.ts';
import type { ApiCall, Reply, Route } from './api.ts';
import {
  apiOf,
  fullMergeRequestJson,
  hookJson,
  memberJson,
  mergeRequestJson,
  noteJson,
  projectJson,
  statusJson,
  userId,
  userJson,
} from './groupedhost-json.ts';
import { bearerToken, firstParts, lastPart, NO_COMMIT, plainGitPath } from './kind.ts';
import type { HostEvent, Kind } from './kind.ts';
import { addComment, addHook, addStatus, commentsOf, editComment, removeHook } from './received.ts';
import type { Hook, HostedRepository } from './repositories.ts';

const path = (rest: string) => new RegExp(`^/api/v4/projects/(?<project>[^/]+)${rest}$`);
const hookEvents = ['push_events', 'tag_push_events', 'merge_requests_events', 'note_events'];
const transitions: Record<string, string> = {
  pending: 'enqueue',
  running: 'run',
  success: 'success',
  failed: 'drop',
  canceled: 'cancel',
};

async function setStatus(call: ApiCall): Promise<Reply> {
  const { body, base, repository, params, url } = call;
  const field = (name: string) => optionalText(body, name) ?? url.searchParams.get(name) ?? undefined;
  const state = field('state') ?? '';
  const context = field('name') ?? field('context') ?? 'default';
  const transition = transitions[state];
  if (transition === undefined) throw new ApiError(400, 'state does not have a valid value');
  for (const name of ['description', 'target_url']) {
    if ((field(name) ?? '').length > 255) throw new ApiError(400, `${name} is too long (maximum is 255 characters)`);
  }
  if (!(await call.hasCommit(params['commit'] ?? ''))) throw new ApiError(404, '404 Commit Not Found');
  // A status that has not ended is the same job, which cannot transition to its current state.
  const last = repository.statuses.findLast(
    (status) => status.commit === params['commit'] && status.context === context,
  );
  if (last?.state === state && ['pending', 'running'].includes(state)) {
    const why = `(Reason(s): Status cannot transition via "${transition}")`;
    throw new ApiError(400, `Cannot transition status via :${transition} from :${state} ${why}`);
  }
  const given = { description: field('description') ?? '', targetUrl: field('target_url') ?? '' };
  const status = await addStatus(call, { state, context, ...given });
  return { status: 201, json: statusJson(base, repository, status) };
}

function writeHook(call: ApiCall, hook?: Hook): Reply {
  const { body, repository } = call;
  const url = textOf(body, 'url');
  const secret = optionalText(body, 'token') ?? hook?.secret;
  const former = hook?.events ?? ['push_events'];
  const events = hookEvents.filter((name) => (name in body ? body[name] === true : former.includes(name)));
  const written = hook ? Object.assign(hook, { url, secret, events }) : addHook(call, { url, secret, events });
  return { status: hook ? 200 : 201, json: hookJson(repository, written) };
}

const routes: Route[] = [
  {
    method: 'GET',
    pattern: /^\/api\/v4\/user$/,
    answer: ({ base }) => ({ status: 200, json: userJson(base, 'token') }),
  },
  {
    method: 'GET',
    pattern: path('/repository/commits/(?<commit>[^/]+)/statuses'),
    answer: (call) => {
      const name = call.url.searchParams.get('name');
      const found = call.repository.statuses.filter(
        ({ commit, context }) => commit === call.params['commit'] && (name === null || context === name),
      );
      // The newest status of each name counts.
      const newest = [...new Map(found.map((status) => [status.context, status])).values()];
      return linkedPage(call, newest, 20, (status) => statusJson(call.base, call.repository, status));
    },
  },
  {
    method: 'GET',
    pattern: path(''),
    answer: ({ base, repository, grants }) => ({ status: 200, json: projectJson(base, repository, grants) }),
  },
  {
    method: 'GET',
    pattern: path('/merge_requests'),
    answer: (call) => {
      const asked = call.url.searchParams.get('state') ?? 'all';
      const wanted = asked === 'opened' ? 'open' : asked;
      const pulls = call.repository.pullRequests.filter(({ state }) => wanted === 'all' || state === wanted);
      return linkedPage(call, pulls, 20, (pull) => mergeRequestJson(call.base, call.repository, pull));
    },
  },
  {
    method: 'GET',
    pattern: path('/merge_requests/(?<number>\\d+)'),
    answer: (call) => ({ status: 200, json: fullMergeRequestJson(call.base, call.repository, pullRequestOf(call)) }),
  },
  { method: 'POST', pattern: path('/statuses/(?<commit>[^/]+)'), needs: 'statuses', answer: setStatus },
  {
    method: 'GET',
    pattern: path('/merge_requests/(?<number>\\d+)/notes'),
    answer: (call) => {
      const comments = commentsOf(call);
      return linkedPage(call, comments, 20, (comment) => noteJson(call.base, call.repository, comment));
    },
  },
  {
    method: 'POST',
    pattern: path('/merge_requests/(?<number>\\d+)/notes'),
    needs: 'comments',
    answer: (call) => {
      const comment = addComment(call, pullRequestOf(call).number, textOf(call.body, 'body'));
      return { status: 201, json: noteJson(call.base, call.repository, comment) };
    },
  },
  {
    method: 'GET',
    pattern: path('/merge_requests/(?<number>\\d+)/notes/(?<id>\\d+)'),
    answer: (call) => {
      const note = byId(commentsOf(call), call.params['id']);
      return { status: 200, json: noteJson(call.base, call.repository, note) };
    },
  },
  {
    method: 'GET',
    pattern: path('/members/all'),
    answer: (call) => {
      const asked = call.url.searchParams.get('user_ids')?.split(',').map(Number);
      const people = [...call.repository.people].filter(([name]) => asked?.includes(userId(name)) !== false);
      return linkedPage(call, people, 20, ([name, role]) => memberJson(call.base, name, role));
    },
  },
  {
    method: 'GET',
    pattern: path('/members/all/(?<id>\\d+)'),
    answer: ({ base, repository, params }) => {
      const [username, role] = [...repository.people].find(([name]) => userId(name) === Number(params['id'])) ?? [];
      if (username === undefined || role === undefined) throw new ApiError(404, '404 Not found');
      return { status: 200, json: memberJson(base, username, role) };
    },
  },
  {
    method: 'PUT',
    pattern: path('/merge_requests/(?<number>\\d+)/notes/(?<id>\\d+)'),
    needs: 'comments',
    answer: (call) => {
      const { base, repository, body } = call;
      const comment = editComment(call, textOf(body, 'body'));
      return { status: 200, json: noteJson(base, repository, comment) };
    },
  },
  {
    method: 'GET',
    pattern: path('/hooks'),
    needs: 'hooks',
    answer: (call) => linkedPage(call, call.repository.hooks, 20, (hook) => hookJson(call.repository, hook)),
  },
  { method: 'POST', pattern: path('/hooks'), needs: 'hooks', answer: (call) => writeHook(call) },
  {
    method: 'PUT',
    pattern: path('/hooks/(?<id>\\d+)'),
    needs: 'hooks',
    answer: (call) => writeHook(call, byId(call.repository.hooks, call.params['id'])),
  },
  {
    method: 'DELETE',
    pattern: path('/hooks/(?<id>\\d+)'),
    needs: 'hooks',
    answer: ({ repository, params }) => {
      removeHook(repository, byId(repository.hooks, params['id']));
      return { status: 204 };
    },
  },
];

const actions = {
  opened: 'open',
  updated: 'update',
  retargeted: 'update',
  labelled: 'update',
  drafted: 'update',
  closed: 'close',
};

/** Returns the hook's setting for the event, the event's name, and its payload (docs.gitlab.com: webhook events). */
function payload(
  event: Exclude<HostEvent, { type: 'ping' }>,
  repository: HostedRepository,
  base: string,
): { wanted: string; name: string; json: object } {
  const project = {
    id: repository.id,
    name: lastPart(repository.path),
    web_url: `${base}/${repository.path}`,
    git_http_url: `${base}/${repository.path}.git`,
    namespace: firstParts(repository.path),
    path_with_namespace: repository.path,
    default_branch: repository.defaultBranch,
  };
  const user = userJson(base, 'somebody');
  if (event.type === 'push') {
    const { ref, before, after } = event.change;
    const isTag = ref.startsWith('refs/tags/');
    const kind = isTag ? 'tag_push' : 'push';
    const checkout_sha = after === NO_COMMIT ? null : after;
    const json = { object_kind: kind, event_name: kind, before, after, ref, checkout_sha, project_id: repository.id };
    const rest = { project, commits: [], total_commits_count: 0 };
    return { wanted: `${kind}_events`, name: isTag ? 'Tag Push Hook' : 'Push Hook', json: { ...json, ...rest } };
  }
  const { pull } = event;
  if (event.type === 'commented') {
    const { id, body, author, createdAt } = event.comment;
    const of = { noteable_type: 'MergeRequest', author_id: userId(author), project_id: repository.id, system: false };
    const object_attributes = { id, note: body, ...of, created_at: createdAt, updated_at: createdAt };
    const merge_request = {
      iid: pull.number,
      title: pull.title,
      target_branch: pull.target,
      source_branch: pull.branch,
    };
    const json = { object_kind: 'note', event_type: 'note', user: userJson(base, author), project };
    return {
      wanted: 'note_events',
      name: 'Note Hook',
      json: { ...json, project_id: repository.id, object_attributes, merge_request },
    };
  }
  const object_attributes = {
    id: repository.id * 1000 + pull.number,
    iid: pull.number,
    title: pull.title,
    state: pull.state === 'open' ? 'opened' : 'closed',
    action: actions[event.type],
    source_branch: pull.branch,
    target_branch: pull.target,
    source_project_id: pull.from.id,
    target_project_id: repository.id,
    last_commit: { id: pull.commit },
    url: `${apiOf(base, repository)}/merge_requests/${pull.number}`,
  };
  const json = { object_kind: 'merge_request', event_type: 'merge_request', user, project, object_attributes };
  return { wanted: 'merge_requests_events', name: 'Merge Request Hook', json };
}

/** GitLab, with the API below /api/v4. */
export const groupedhost: Kind = {
  routes,
  hasETags: true,
  gitPath: plainGitPath,
  repositoryOf: (repositories, { project }, _, token = '') =>
    project === undefined
      ? repositories.all.find(({ tokens }) => tokens.has(token))
      : (repositories.find(project) ?? repositories.all.find(({ id }) => String(id) === project)),
  tokenOf: (headers) => {
    const own = headers['private-token'];
    return typeof own === 'string' ? own : bearerToken(headers);
  },
  takesGitUser: (username) => username !== '',
  refuse: (status, message) => ({ status, json: { message: `${status} ${message}` } }),
  moved: {
    pathIn: ({ project = '' }) => project,
    answer: (method, url, { id }) => {
      const message = 'Non GET methods are not allowed for moved projects';
      if (method !== 'GET') return { status: 405, json: { message } };
      const rest = url.pathname.replace(/^\/api\/v4\/projects\/[^/]+/, '');
      const location = `${url.origin}/api/v4/projects/${id}${rest}${url.search}`;
      return { status: 301, headers: { location }, text: `This resource has been moved permanently to ${location}` };
    },
  },
  redirectsGit: true,
  pullRefs: (number) => ({ head: `refs/merge-requests/${number}/head` }),
  call: (event, hook, repository, base) => {
    if (event.type === 'ping') return undefined;
    const { wanted, name, json } = payload(event, repository, base);
    if (!hook.events.includes(wanted)) return undefined;
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'GitLab/18.0.0',
      'x-gitlab-event': name,
      'x-gitlab-instance': base,
      'x-gitlab-webhook-uuid': hook.uuid,
      'x-gitlab-event-uuid': randomUUID(),
      'idempotency-key': randomUUID(),
      ...(hook.secret !== undefined && { 'x-gitlab-token': hook.secret }),
    };
    return { event: name, body: JSON.stringify(json), headers };
  },
};
