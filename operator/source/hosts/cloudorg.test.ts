import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { CloudorgHost, statusContext, toPullRequest } from './cloudorg.ts';
import { byRoute, localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';

test.each([
  ['coppice/shop-main', { genre: 'coppice', name: 'shop-main' }],
  ['coppice/a/b', { genre: 'coppice', name: 'a/b' }],
  ['coppice', { name: 'coppice' }],
])('reports the status %s', (context, expected) => {
  expect(statusContext(context)).toEqual(expected);
});

describe('a pull request', () => {
  const org = 'https://dev.azure.com/acme/';
  const credentials = { username: 'coppice', password: 'tok' };
  const own = { origin: 'https://dev.azure.com/acme/My%20Web/_git/shop', credentials };
  const fork = { repository: { name: 'my shop', project: { name: 'Other' } } };
  const forkOrigin = 'https://dev.azure.com/acme/Other/_git/my%20shop';
  test.each([
    ['of a branch', undefined, false, own.origin, 'refs/heads/x/y'],
    ['of a branch, reported explicitly', null, false, own.origin, 'refs/heads/x/y'],
    ['of a fork', fork, true, forkOrigin, 'refs/heads/x/y'],
    ['of a deleted fork, whose branch may have a name of ours', {}, true, own.origin, 'refs/pull/7/head'],
  ])('is read: %s', (_, forkSource, isFork, origin, refName) => {
    const found = { pullRequestId: 7, sourceRefName: 'refs/heads/x/y', forkSource };
    expect(toPullRequest({ ...found, lastMergeSourceCommit: { commitId: 'abc' } }, own, org)).toEqual({
      number: 7,
      commit: 'abc',
      isFork,
      sourceBranch: 'x/y',
      location: { access: { origin, credentials }, refName },
    });
  });
});

test('is located at refs/pull if git must not be asked for the name of its branch', () => {
  const own = { origin: 'https://dev.azure.com/acme/x/_git/shop', credentials: undefined };
  const found = { pullRequestId: 7, sourceRefName: `refs/heads/${'x'.repeat(300)}` };
  expect(toPullRequest(found, own, 'https://dev.azure.com/acme').location.refName).toBe('refs/pull/7/head');
});

let local: LocalHost;

beforeEach(async () => {
  local = await startLocalHost();
});

afterEach(() => local.close());

const host = () =>
  new CloudorgHost({
    http: localHttp([local]),
    source: { check: () => Promise.resolve() },
    orgUrl: `${local.url}/acme/`,
    project: 'My Web',
    repoName: 'shop',
    token: 'tok',
  });
const repo = '/acme/My%20Web/_apis/git/repositories/shop';
const hooks = '/acme/_apis/hooks/subscriptions';
const repository = { id: 'r-1', project: { id: 'p-1' } };

test('accesses the organization with the token, and reports nothing of it', async () => {
  local.answer(byRoute({ [`GET ${repo}`]: repository }));
  expect(host()).toMatchObject({
    webUrl: `${local.url}/acme/My%20Web/_git/shop`,
    access: { origin: `${local.url}/acme/My%20Web/_git/shop`, credentials: { password: 'tok' } },
  });
  expect(await host().check()).toEqual({ statuses: undefined, hooks: undefined });
  const authorization = `Basic ${Buffer.from(':tok').toString('base64')}`;
  expect(local.requests).toMatchObject([{ line: `GET ${repo}?api-version=7.1`, headers: { authorization } }]);
});

test("writes a status in the host's terms", async () => {
  local.answer(byRoute({ [`POST ${repo}/commits/abc/statuses`]: {} }));
  const status = { context: 'coppice/shop', state: 'success', description: 'up', targetUrl: 'https://a.b' } as const;
  expect(await host().setStatus('abc', status)).toBe(true);
  expect(local.requests[0]?.body).toEqual({
    state: 'succeeded',
    description: 'up',
    targetUrl: 'https://a.b',
    context: { genre: 'coppice', name: 'shop' },
  });
});

describe('the comment', () => {
  const marker = '<!-- coppice shop -->';
  const threads = `${repo}/pullRequests/7/threads`;
  const made = { id: 9, comments: [{ id: 1, content: 'new' }] };

  test('is in a thread that does not block merging', async () => {
    local.answer(byRoute({ [`GET ${threads}`]: { value: [] }, [`POST ${threads}`]: made }));
    expect(await host().comment({ pullRequest: 7, marker }, 'new')).toBe('9/1');
    expect(local.requests[1]?.body).toEqual({
      comments: [{ parentCommentId: 0, content: 'new', commentType: 1 }],
      status: 4,
    });
  });

  test('is updated by its ID', async () => {
    local.answer(byRoute({ [`PATCH ${threads}/9/comments/1`]: {} }));
    expect(await host().comment({ pullRequest: 7, marker, id: '9/1' }, 'new')).toBe('9/1');
    expect(local.requests).toMatchObject([{ body: { content: 'new' } }]);
  });

  test('is found by its marker, beyond comments of others and deleted ones', async () => {
    const value = [
      { id: 1, comments: [{ id: 1, content: marker, isDeleted: true }] },
      { id: 2, isDeleted: true, comments: [{ id: 1, content: marker }] },
      { id: 3, comments: [{ id: 1, content: marker }] },
      { id: 4, comments: [{ id: 1 }, { id: 2, content: `x\n${marker}` }] },
    ];
    local.answer((request, response) => {
      if (request.method === 'GET') sendJson(response, { value });
      else sendJson(response, {}, {}, request.url?.includes('/threads/3/') ? 403 : 200);
    });
    expect(await host().comment({ pullRequest: 7, marker }, 'new')).toBe('4/2');
    expect(local.requests.map(({ line }) => line.split('?')[0])).toEqual([
      `GET ${threads}`,
      `PATCH ${threads}/3/comments/1`,
      `PATCH ${threads}/4/comments/2`,
    ]);
  });
});

describe('the webhook', () => {
  const hook = { url: 'https://coppice.example/hook', secret: 's' };
  const there = (id: string, eventType: string, url = hook.url, of = 'r-1') => ({
    id,
    eventType,
    publisherInputs: { repository: of },
    consumerInputs: { url },
  });

  test('is a subscription for each type of event, created or updated', async () => {
    let made = 0;
    local.answer((request, response) => {
      if (request.url?.startsWith(repo)) return sendJson(response, repository);
      if (request.method === 'POST') return sendJson(response, there(`new-${++made}`, 'x'));
      if (request.method === 'PUT') return sendJson(response, there('old', 'x'));
      const value = [
        there('other-url', 'git.push', 'https://x.example'),
        there('other-repository', 'git.push', hook.url, 'r-2'),
        there('old', 'git.pullrequest.created'),
      ];
      sendJson(response, { value });
    });
    expect(await host().ensureWebhook(hook)).toBe('new-1,old,new-2');
    const body = {
      publisherId: 'tfs',
      eventType: 'git.push',
      resourceVersion: '1.0',
      consumerId: 'webHooks',
      consumerActionId: 'httpRequest',
      publisherInputs: { projectId: 'p-1', repository: 'r-1' },
      consumerInputs: { url: hook.url, basicAuthUsername: 'coppice', basicAuthPassword: 's' },
    };
    expect(local.requests[2]).toMatchObject({ line: `POST ${hooks}?api-version=7.1`, body });
    expect(local.requests[3]).toMatchObject({
      line: `PUT ${hooks}/old?api-version=7.1`,
      body: { ...body, id: 'old', eventType: 'git.pullrequest.created' },
    });
  });

  test.each([401, 403, 404])('is absent if the token is answered %i', async (status) => {
    local.answer((request, response) => {
      if (request.url?.startsWith(repo)) sendJson(response, repository);
      else sendJson(response, {}, {}, status);
    });
    expect(await host().ensureWebhook(hook)).toBeUndefined();
  });

  test('is removed with all its subscriptions', async () => {
    local.answer((request, response) => response.writeHead(request.url?.includes('/a') ? 404 : 204).end());
    await host().removeWebhook('a,b');
    expect(local.requests.map(({ line }) => line)).toEqual([
      `DELETE ${hooks}/a?api-version=7.1`,
      `DELETE ${hooks}/b?api-version=7.1`,
    ]);
  });
});
