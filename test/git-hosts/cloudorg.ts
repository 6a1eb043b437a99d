import { randomUUID } from 'node:crypto';
import { ApiError, objectOf, optionalText, pullRequestOf, textOf } from './api.ts';
import type { ApiCall, Reply, Route } from './api.ts';
import {
  commentJson,
  LOCATIONS,
  locationsJson,
  namesOf,
  listedPullJson,
  pullJson,
  repositoryJson,
  statusJson,
  subscriptionJson,
  threadJson,
} from './cloudorg-json.ts';
import { basicCredentials } from './kind.ts';
import type { HostEvent, Kind } from './kind.ts';
import { addComment, addHook, addStatus, commentsOf, editComment, removeHook } from './received.ts';
import type { Hook, HostedRepository, PullRequest } from './repositories.ts';

const repo = '/(?<organization>[^/]+)/(?<project>[^/]+)/_apis/git/repositories/(?<name>[^/]+)';
const path = (rest: string) => new RegExp(`^${repo}${rest}$`, 'i');
const hooksPath = (rest: string) => new RegExp(`^/(?<organization>[^/]+)/_apis/hooks/subscriptions${rest}$`, 'i');

/** Requires the API version in requests that change something. */
function versioned(answer: Route['answer']): Route['answer'] {
  return (call) => {
    const isSet = call.url.searchParams.has('api-version') || /api-version=/.test(call.headers.accept ?? '');
    if (!isSet) throw new ApiError(400, `No api-version was supplied for the "${call.url.pathname}" request.`);
    return answer(call);
  };
}

const list = (value: readonly unknown[]): Reply => ({ status: 200, json: { value, count: value.length } });

/** Returns a list by `$top` and `$skip`; only a full page indicates that there are more items. */
function listPulls(call: ApiCall): Reply {
  const query = call.url.searchParams;
  const wanted = query.get('searchCriteria.status') ?? 'active';
  // States by name or, as in the official client, by number.
  const names = { open: ['active', '1'], closed: ['abandoned', '2'] };
  const all = call.repository.pullRequests.filter(({ state }) => wanted === 'all' || names[state].includes(wanted));
  const top = Math.min(Number(query.get('$top') ?? 101), 1000);
  const skip = Number(query.get('$skip') ?? 0);
  const page: PullRequest[] = call.pagesLoop
    ? Array.from({ length: top }, (_, index) => all[index % all.length]).filter((pull) => pull !== undefined)
    : all.slice(skip, skip + top);
  return list(page.map((pull) => listedPullJson(call.base, call.repository, pull)));
}

const statusStates = ['notSet', 'pending', 'succeeded', 'failed', 'error', 'notApplicable', 'partiallySucceeded'];

async function setStatus(call: ApiCall): Promise<Reply> {
  const { body, base } = call;
  const given = body['state'];
  const state = typeof given === 'number' ? statusStates[given] : statusStates.find((name) => name === given);
  if (state === undefined) throw new ApiError(400, 'The requested value was not found in GitStatusState.');
  const context = objectOf(body, 'context');
  const genre = optionalText(context, 'genre');
  const status = await addStatus(call, {
    state,
    context: `${genre === undefined ? '' : `${genre}/`}${textOf(context, 'name')}`,
    description: optionalText(body, 'description') ?? '',
    targetUrl: optionalText(body, 'targetUrl') ?? '',
  });
  return { status: 201, json: statusJson(base, status) };
}

const texts = (inputs: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, String(value)]));

function writeSubscription(call: ApiCall, hook?: Hook): Reply {
  const { body, base, repository } = call;
  if (textOf(body, 'consumerId') !== 'webHooks' || textOf(body, 'consumerActionId') !== 'httpRequest') {
    throw new ApiError(400, 'only webHooks/httpRequest is here');
  }
  const inputs = texts(objectOf(body, 'consumerInputs'));
  const { url = '', basicAuthPassword: secret } = inputs;
  const settings = { url, secret, events: [textOf(body, 'eventType')], inputs };
  const written = hook ? Object.assign(hook, settings) : addHook(call, settings);
  return { status: 200, json: subscriptionJson(base, repository, written) };
}

function hookOf({ repository, params }: ApiCall): Hook {
  const found = repository.hooks.find(({ uuid }) => uuid === params['subscription']);
  if (!found) throw new ApiError(404, `Subscription ${params['subscription'] ?? ''} was not found.`);
  return found;
}

function listSubscriptions(call: ApiCall): Reply {
  const eventType = call.url.searchParams.get('eventType');
  const ofOrganization = call.repositories.all.filter(
    (repository) => namesOf(repository).organization === call.params['organization'],
  );
  return list(
    ofOrganization.flatMap((repository) =>
      repository.hooks
        .filter(({ events }) => eventType === null || events.includes(eventType))
        .map((hook) => subscriptionJson(call.base, repository, hook)),
    ),
  );
}

const routes: Route[] = [
  {
    method: 'GET',
    pattern: path(''),
    answer: ({ base, repository }) => ({ status: 200, json: repositoryJson(base, repository) }),
  },
  { method: 'GET', pattern: path('/pullRequests'), answer: listPulls },
  {
    method: 'GET',
    pattern: path('/pullRequests/(?<number>\\d+)'),
    answer: (call) => ({ status: 200, json: pullJson(call.base, call.repository, pullRequestOf(call)) }),
  },
  {
    method: 'POST',
    pattern: path('/commits/(?<commit>[^/]+)/statuses'),
    needs: 'statuses',
    answer: versioned(setStatus),
  },
  {
    method: 'GET',
    pattern: path('/pullRequests/(?<number>\\d+)/threads'),
    answer: (call) => {
      const comments = commentsOf(call);
      return list(comments.map((comment) => threadJson(call.base, comment)));
    },
  },
  {
    method: 'POST',
    pattern: path('/pullRequests/(?<number>\\d+)/threads'),
    needs: 'comments',
    answer: versioned((call) => {
      const [first] = Array.isArray(call.body['comments']) ? (call.body['comments'] as Record<string, unknown>[]) : [];
      const comment = addComment(call, pullRequestOf(call).number, textOf(first ?? {}, 'content'));
      return { status: 200, json: threadJson(call.base, comment) };
    }),
  },
  {
    method: 'PATCH',
    pattern: path('/pullRequests/(?<number>\\d+)/threads/(?<id>\\d+)/comments/1'),
    needs: 'comments',
    answer: versioned((call) => {
      const { base, body } = call;
      const comment = editComment(call, textOf(body, 'content'));
      return { status: 200, json: commentJson(base, comment) };
    }),
  },
  { method: 'GET', pattern: hooksPath(''), needs: 'hooks', answer: listSubscriptions },
  { method: 'POST', pattern: hooksPath(''), needs: 'hooks', answer: versioned((call) => writeSubscription(call)) },
  {
    method: 'PUT',
    pattern: hooksPath('/(?<subscription>[^/]+)'),
    needs: 'hooks',
    answer: versioned((call) => writeSubscription(call, hookOf(call))),
  },
  {
    method: 'DELETE',
    pattern: hooksPath('/(?<subscription>[^/]+)'),
    needs: 'hooks',
    answer: versioned((call) => {
      removeHook(call.repository, hookOf(call));
      return { status: 204 };
    }),
  },
];

/** Azure DevOps reports neither labels nor drafts. */
const eventTypes = {
  labelled: undefined,
  drafted: undefined,
  push: 'git.push',
  opened: 'git.pullrequest.created',
  updated: 'git.pullrequest.updated',
  retargeted: 'git.pullrequest.updated',
  closed: 'git.pullrequest.updated',
};

function resource(
  event: Exclude<HostEvent, { type: 'ping' | 'commented' }>,
  repository: HostedRepository,
  base: string,
): object {
  if (event.type !== 'push') return pullJson(base, repository, event.pull);
  const { ref, before, after } = event.change;
  const refUpdates = [{ name: ref, oldObjectId: before, newObjectId: after }];
  return { commits: [], refUpdates, repository: repositoryJson(base, repository), pushId: 1 };
}

/** A subscription's `httpHeaders`: one `Name: value` on each line. */
function ownHeaders(text = ''): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

/** Azure DevOps: the web address of an organization, with the API below every project. */
export const cloudorg: Kind = {
  routes,
  hasETags: false,
  gitPath: (pathname) => {
    const [, project, name, rest] =
      /^\/([^/]+\/[^/]+)\/_git\/([^/]+)\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(pathname) ?? [];
    if (project === undefined || name === undefined || rest === undefined) return undefined;
    return { path: decodeURIComponent(`${project}/${name}`), rest };
  },
  discover: (method, pathname) => {
    const [, area] = /^\/[^/]+\/_apis\/(\w+)$/.exec(pathname) ?? [];
    if (method === 'GET' && area === 'ResourceAreas') return { status: 200, json: { count: 0, value: null } };
    if (method !== 'OPTIONS' || area === undefined || !(area in LOCATIONS)) return undefined;
    return { status: 200, json: locationsJson(area as keyof typeof LOCATIONS) };
  },
  repositoryOf: (repositories, { organization = '', project, name, subscription }, body, token = '') => {
    if (project !== undefined && name !== undefined) {
      const path = `${organization}/${project}/${name}`;
      return repositories.find(path) ?? repositories.all.find(({ uuid }) => uuid === name);
    }
    if (subscription !== undefined) {
      return repositories.all.find(({ hooks }) => hooks.some(({ uuid }) => uuid === subscription));
    }
    const { publisherInputs } = body;
    if (typeof publisherInputs === 'object' && publisherInputs !== null && 'repository' in publisherInputs) {
      return repositories.all.find(({ uuid }) => uuid === publisherInputs.repository);
    }
    return repositories.all.find((one) => namesOf(one).organization === organization && one.tokens.has(token));
  },
  tokenOf: (headers) => basicCredentials(headers)?.password,
  takesGitUser: () => true,
  challenge: { status: 302, headers: { location: '/_signin' }, text: '<html>Sign in to your account</html>' },
  refuse: (status, message) => ({
    status,
    json: { $id: '1', innerException: null, message, typeKey: 'VssServiceException', errorCode: 0, eventId: 3000 },
  }),
  pullRefs: (number) => ({ merge: `refs/pull/${number}/merge` }),
  call: (event, hook, repository, base) => {
    if (event.type === 'ping' || event.type === 'commented') return undefined;
    const eventType = eventTypes[event.type];
    if (eventType === undefined) return undefined;
    if (!hook.events.includes(eventType)) return undefined;
    const { basicAuthUsername = '', httpHeaders } = hook.inputs;
    const basic = Buffer.from(`${basicAuthUsername}:${hook.secret ?? ''}`).toString('base64');
    const json = {
      subscriptionId: hook.uuid,
      notificationId: 1,
      id: randomUUID(),
      eventType,
      publisherId: 'tfs',
      resource: resource(event, repository, base),
      resourceVersion: '1.0',
      createdDate: new Date().toISOString(),
    };
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'VSServices/19.0.0.0 (w3wp.exe) TFS.ServiceHooks',
      ...ownHeaders(httpHeaders),
      ...(hook.secret !== undefined && { authorization: `Basic ${basic}` }),
    };
    return { event: eventType, body: JSON.stringify(json), headers };
  },
};
