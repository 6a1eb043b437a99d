import { createHmac, randomUUID } from 'node:crypto';
import { ApiError, listOf, objectOf, optionalText, pageOf, pullRequestOf, textOf } from './api.ts';
import type { ApiCall, Reply, Route } from './api.ts';
import { bearerToken, firstParts, plainGitPath } from './kind.ts';
import type { HostEvent, Kind } from './kind.ts';
import { addComment, addHook, addStatus, commentsOf, editComment, removeHook } from './received.ts';
import type { Hook, HostedRepository } from './repositories.ts';
import {
  accountJson,
  changeJson,
  commentJson,
  hookJson,
  pullJson,
  repositoryJson,
  statusJson,
} from './workspacehost-json.ts';

const repo = String.raw`/2\.0/repositories/(?<workspace>[^/]+)/(?<name>[^/]+)`;
const path = (rest: string) => new RegExp(`^${repo}${rest}$`);

/** Returns a page as Bitbucket does: the next page's address is in the body. */
function page<T>(call: ApiCall, all: readonly T[], max: number, form: (item: T) => unknown): Reply {
  const { items, number, size, total, next } = pageOf(call, all, 'pagelen', 10, max);
  const json = {
    values: items.map(form),
    pagelen: size,
    size: total,
    page: number,
    ...(next !== undefined && { next }),
  };
  return { status: 200, json };
}

async function setStatus(call: ApiCall): Promise<Reply> {
  const { body, base, repository } = call;
  const state = textOf(body, 'state');
  const key = textOf(body, 'key');
  const context = optionalText(body, 'name') ?? key;
  if (!['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'STOPPED'].includes(state)) throw new ApiError(400, 'Bad request: state');
  if (key.length > 40) throw new ApiError(400, 'key: Ensure this value has at most 40 characters');
  const given = { description: optionalText(body, 'description') ?? '', targetUrl: textOf(body, 'url') };
  const status = await addStatus(call, { state, context, key, ...given });
  return { status: 201, json: statusJson(base, repository, status) };
}

function writeHook(call: ApiCall, hook?: Hook): Reply {
  const { body, base, repository } = call;
  if (!hook && textOf(body, 'description') === '') throw new ApiError(400, 'description is missing');
  const url = textOf(body, 'url');
  const settings = { url, secret: optionalText(body, 'secret') ?? hook?.secret, events: listOf(body, 'events') };
  const written = hook ? Object.assign(hook, settings) : addHook(call, settings);
  return { status: hook ? 200 : 201, json: hookJson(base, repository, written) };
}

function hookOf({ repository, params }: ApiCall): Hook {
  const found = repository.hooks.find(({ uuid }) => params['uuid'] === `{${uuid}}`);
  if (!found) throw new ApiError(404, 'Webhook not found');
  return found;
}

const routes: Route[] = [
  {
    method: 'GET',
    pattern: path(''),
    answer: ({ base, repository }) => ({ status: 200, json: repositoryJson(base, repository) }),
  },
  {
    method: 'GET',
    pattern: path('/pullrequests'),
    answer: (call) => {
      const states = call.url.searchParams.getAll('state');
      const wanted = states.length > 0 ? states : ['OPEN'];
      const name = { open: 'OPEN', closed: 'DECLINED' };
      const pulls = call.repository.pullRequests.filter(({ state }) => wanted.includes(name[state]));
      return page(call, pulls, 50, (pull) => pullJson(call.base, call.repository, pull));
    },
  },
  {
    method: 'GET',
    pattern: path('/pullrequests/(?<number>\\d+)'),
    answer: (call) => ({ status: 200, json: pullJson(call.base, call.repository, pullRequestOf(call)) }),
  },
  { method: 'POST', pattern: path('/commit/(?<commit>[^/]+)/statuses/build'), needs: 'statuses', answer: setStatus },
  {
    method: 'GET',
    pattern: path('/pullrequests/(?<number>\\d+)/comments'),
    answer: (call) => {
      const comments = commentsOf(call);
      return page(call, comments, 100, (comment) => commentJson(call.base, call.repository, comment));
    },
  },
  {
    method: 'POST',
    pattern: path('/pullrequests/(?<number>\\d+)/comments'),
    needs: 'comments',
    answer: (call) => {
      const text = textOf(objectOf(call.body, 'content'), 'raw');
      const comment = addComment(call, pullRequestOf(call).number, text);
      return { status: 201, json: commentJson(call.base, call.repository, comment) };
    },
  },
  {
    method: 'PUT',
    pattern: path('/pullrequests/(?<number>\\d+)/comments/(?<id>\\d+)'),
    needs: 'comments',
    answer: (call) => {
      const { base, repository, body } = call;
      const comment = editComment(call, textOf(objectOf(body, 'content'), 'raw'));
      return { status: 200, json: commentJson(base, repository, comment) };
    },
  },
  {
    method: 'GET',
    pattern: path('/hooks'),
    needs: 'hooks',
    answer: (call) => page(call, call.repository.hooks, 100, (hook) => hookJson(call.base, call.repository, hook)),
  },
  { method: 'POST', pattern: path('/hooks'), needs: 'hooks', answer: (call) => writeHook(call) },
  {
    method: 'PUT',
    pattern: path('/hooks/(?<uuid>[^/]+)'),
    needs: 'hooks',
    answer: (call) => writeHook(call, hookOf(call)),
  },
  {
    method: 'DELETE',
    pattern: path('/hooks/(?<uuid>[^/]+)'),
    needs: 'hooks',
    answer: (call) => {
      removeHook(call.repository, hookOf(call));
      return { status: 204, headers: { 'content-type': 'text/html; charset=utf-8' } };
    },
  },
];

const keys = {
  opened: 'pullrequest:created',
  updated: 'pullrequest:updated',
  retargeted: 'pullrequest:updated',
  labelled: undefined,
  drafted: 'pullrequest:updated',
  closed: 'pullrequest:rejected',
};

function payload(
  event: Exclude<HostEvent, { type: 'ping' | 'commented' }>,
  repository: HostedRepository,
  base: string,
): [string | undefined, object] {
  const common = {
    repository: repositoryJson(base, repository),
    actor: accountJson(base, firstParts(repository.path)),
  };
  if (event.type === 'push') return ['repo:push', { push: { changes: [changeJson(event.change)] }, ...common }];
  return [keys[event.type], { pullrequest: pullJson(base, repository, event.pull), ...common }];
}

/** Bitbucket Cloud, with the API below /2.0. */
export const workspacehost: Kind = {
  routes,
  hasETags: false,
  gitPath: plainGitPath,
  repositoryOf: (repositories, { workspace, name }) => repositories.find(`${workspace ?? ''}/${name ?? ''}`),
  tokenOf: bearerToken,
  takesGitUser: (username) => username === 'x-token-auth',
  refuse: (status, message) => ({ status, json: { type: 'error', error: { message } } }),
  pullRefs: () => ({}),
  call: (event, hook, repository, base) => {
    if (event.type === 'ping' || event.type === 'commented') return undefined;
    const [key, json] = payload(event, repository, base);
    if (key === undefined || !hook.events.includes(key)) return undefined;
    const body = JSON.stringify(json);
    const signature = createHmac('sha256', hook.secret ?? '')
      .update(body)
      .digest('hex');
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Bitbucket-Webhooks/2.0',
      'x-event-key': key,
      'x-hook-uuid': hook.uuid,
      'x-request-uuid': randomUUID(),
      'x-attempt-number': '1',
      ...(hook.secret !== undefined && { 'x-hub-signature': `sha256=${signature}` }),
    };
    return { event: key, body, headers };
  },
};
