import { createHmac, randomUUID } from 'node:crypto';
import { ApiError, byId, linkedPage, listOf, objectOf, optionalText, pullRequestOf, textOf } from './api.ts';
import type { ApiCall, Reply, Route } from './api.ts';
import { bearerToken, firstParts, NO_COMMIT, plainGitPath, shortName } from './kind.ts';
import type { Call, HostEvent, Kind } from './kind.ts';
import {
  commentJson,
  fullPullJson,
  fullRepositoryJson,
  hookJson,
  issueJson,
  labelJson,
  permissionJson,
  pullJson,
  repositoryJson,
  statusJson,
  userJson,
} from './ownerhost-json.ts';
import { addComment, addHook, addStatus, commentsOf, editComment, removeHook } from './received.ts';
import type { Hook, HostedRepository } from './repositories.ts';

const repo = String.raw`/api/v3/repos/(?<owner>[^/]+)/(?<name>[^/]+)`;
const path = (rest: string) => new RegExp(`^${repo}${rest}$`);

function setStatus(call: ApiCall): Promise<Reply> | Reply {
  const { body, base, repository } = call;
  const state = textOf(body, 'state');
  const description = optionalText(body, 'description') ?? '';
  if (!['error', 'failure', 'pending', 'success'].includes(state)) throw new ApiError(422, 'Validation Failed: state');
  if (description.length > 140) throw new ApiError(422, 'description is too long (maximum is 140 characters)');
  const context = optionalText(body, 'context') ?? 'default';
  const targetUrl = optionalText(body, 'target_url') ?? '';
  return addStatus(call, { state, context, description, targetUrl }).then((status) => ({
    status: 201,
    json: statusJson(base, repository, status),
  }));
}

function writeHook(call: ApiCall, hook?: Hook): Reply {
  const { body, base, repository } = call;
  const config = objectOf(body, 'config');
  if (!hook && repository.hooks.some(({ url }) => url === config['url'])) {
    throw new ApiError(422, 'Validation Failed: Hook already exists on this repository');
  }
  const settings = {
    url: textOf(config, 'url'),
    secret: optionalText(config, 'secret'),
    events: listOf(body, 'events'),
  };
  const written = hook ? Object.assign(hook, settings) : addHook(call, settings);
  return { status: hook ? 200 : 201, json: hookJson(base, repository, written) };
}

const routes: Route[] = [
  {
    method: 'GET',
    pattern: /^\/api\/v3\/user$/,
    answer: ({ base }) => ({ status: 200, json: userJson(base, 'token') }),
  },
  {
    method: 'GET',
    pattern: path(''),
    answer: ({ base, repository, grants }) => ({ status: 200, json: fullRepositoryJson(base, repository, grants) }),
  },
  {
    method: 'GET',
    pattern: path('/pulls'),
    answer: (call) => {
      const state = call.url.searchParams.get('state') ?? 'open';
      const pulls = call.repository.pullRequests.filter((pull) => state === 'all' || pull.state === state);
      return linkedPage(call, pulls, 30, (pull) => pullJson(call.base, call.repository, pull));
    },
  },
  {
    method: 'GET',
    pattern: path('/pulls/(?<number>\\d+)'),
    answer: (call) => ({ status: 200, json: fullPullJson(call.base, call.repository, pullRequestOf(call)) }),
  },
  { method: 'POST', pattern: path('/statuses/(?<commit>[^/]+)'), needs: 'statuses', answer: setStatus },
  {
    method: 'GET',
    pattern: path('/issues/(?<number>\\d+)/comments'),
    answer: (call) => {
      const comments = commentsOf(call);
      return linkedPage(call, comments, 30, (comment) => commentJson(call.base, call.repository, comment));
    },
  },
  {
    method: 'POST',
    pattern: path('/issues/(?<number>\\d+)/comments'),
    needs: 'comments',
    answer: (call) => {
      const comment = addComment(call, pullRequestOf(call).number, textOf(call.body, 'body'));
      return { status: 201, json: commentJson(call.base, call.repository, comment) };
    },
  },
  {
    method: 'GET',
    pattern: path('/issues/comments/(?<id>\\d+)'),
    answer: ({ base, repository, params }) => {
      return { status: 200, json: commentJson(base, repository, byId(repository.comments, params['id'])) };
    },
  },
  {
    method: 'GET',
    pattern: path('/collaborators/(?<login>[^/]+)/permission'),
    answer: ({ base, repository, params, grants }) => {
      if (!grants?.has('push') && !grants?.has('statuses')) {
        throw new ApiError(403, 'Must have push access to view collaborator permission.');
      }
      const { login = '' } = params;
      return { status: 200, json: permissionJson(base, login, repository.people.get(login)) };
    },
  },
  {
    method: 'PATCH',
    pattern: path('/issues/comments/(?<id>\\d+)'),
    needs: 'comments',
    answer: (call) => {
      const { base, repository, body } = call;
      const comment = editComment(call, textOf(body, 'body'));
      return { status: 200, json: commentJson(base, repository, comment) };
    },
  },
  {
    method: 'GET',
    pattern: path('/hooks'),
    needs: 'hooks',
    answer: (call) => linkedPage(call, call.repository.hooks, 30, (hook) => hookJson(call.base, call.repository, hook)),
  },
  { method: 'POST', pattern: path('/hooks'), needs: 'hooks', answer: (call) => writeHook(call) },
  {
    method: 'PATCH',
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
  opened: 'opened',
  updated: 'synchronize',
  retargeted: 'edited',
  labelled: 'labeled',
  closed: 'closed',
};

function actionOf({ type, pull }: Exclude<HostEvent, { type: 'ping' | 'push' | 'commented' }>): string {
  if (type !== 'drafted') return actions[type];
  return pull.isDraft ? 'converted_to_draft' : 'ready_for_review';
}

/** Returns the event and payload of a webhook, as GitHub, Gitea and Forgejo send them. */
function payload(event: HostEvent, repository: HostedRepository, base: string): [string, object] {
  const sender = userJson(base, firstParts(repository.path));
  const common = { repository: repositoryJson(base, repository), sender };
  if (event.type === 'ping') return ['ping', { zen: 'Keep it logically awesome.', ...common }];
  if (event.type === 'push') {
    const { ref, before, after } = event.change;
    const isGone = after === NO_COMMIT;
    const base_ref = null;
    const flags = { created: before === NO_COMMIT, deleted: isGone, forced: false, base_ref };
    const pusher = { name: shortName(firstParts(repository.path)), email: null };
    return ['push', { ref, before, after, ...flags, compare: '', commits: [], head_commit: null, pusher, ...common }];
  }
  const { pull } = event;
  if (event.type === 'commented') {
    const comment = commentJson(base, repository, event.comment);
    const issue = issueJson(base, repository, pull);
    return ['issue_comment', { action: 'created', issue, comment, ...common }];
  }
  const pull_request = fullPullJson(base, repository, pull);
  const [name] = pull.labels;
  const label = event.type === 'labelled' && name !== undefined ? { label: labelJson(base, repository, name) } : {};
  return ['pull_request', { action: actionOf(event), number: pull.number, pull_request, ...label, ...common }];
}

/** Returns a webhook call in GitHub's format, signed over the bytes that are sent. */
export function ownerhostCall(
  event: HostEvent,
  hook: Pick<Hook, 'id' | 'secret'>,
  repository: HostedRepository,
  base: string,
): Call {
  const [name, json] = payload(event, repository, base);
  const body = JSON.stringify(json);
  const signature = createHmac('sha256', hook.secret ?? '')
    .update(body)
    .digest('hex');
  return {
    event: name,
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0000000',
      'x-github-event': name,
      'x-github-delivery': randomUUID(),
      'x-github-hook-id': String(hook.id),
      ...(hook.secret !== undefined && { 'x-hub-signature-256': `sha256=${signature}` }),
    },
  };
}

/** GitHub, like a self-hosted instance: with the API below /api/v3. */
export const ownerhost: Kind = {
  routes,
  hasETags: true,
  gitPath: plainGitPath,
  repositoryOf: (repositories, { owner, name }, _, token = '') =>
    owner === undefined
      ? repositories.all.find(({ tokens }) => tokens.has(token))
      : repositories.find(`${owner}/${name ?? ''}`),
  tokenOf: bearerToken,
  takesGitUser: () => true,
  refuse: (status, message) => ({
    status,
    json: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  }),
  moved: {
    pathIn: ({ owner = '', name = '' }) => `${owner}/${name}`,
    answer: (method, url, { id }) => {
      const rest = url.pathname.replace(/^\/api\/v3\/repos\/[^/]+\/[^/]+/, '');
      const location = `${url.origin}/api/v3/repositories/${id}${rest}${url.search}`;
      const documentation_url =
        'https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects';
      const [status, message] = method === 'GET' ? [301, 'Moved Permanently'] : [307, 'Temporary Redirect'];
      return { status, headers: { location }, json: { message, url: location, documentation_url } };
    },
  },
  redirectsGit: true,
  pullRefs: (number) => ({ head: `refs/pull/${number}/head` }),
  call: (event, hook, repository, base) => {
    const call = ownerhostCall(event, hook, repository, base);
    return event.type === 'ping' || hook.events.includes(call.event) || hook.events.includes('*') ? call : undefined;
  },
};
