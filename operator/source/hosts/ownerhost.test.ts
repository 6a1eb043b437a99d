import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { capabilitiesOf, factsOf, OwnerhostHost, toPullRequest } from './ownerhost.ts';
import { byRoute, localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';

const access = { origin: 'https://github.com/acme/shop.git', credentials: undefined };

describe('the capabilities of a token', () => {
  const admin = { admin: true, push: true };
  const writer = { admin: false, push: true };
  const reader = { admin: false, push: false };
  test.each([
    ['a classic token with all', admin, 'repo, gist', { statuses: true, hooks: true }],
    ['a classic token of a writer', writer, 'repo', { statuses: true, hooks: false }],
    ['a classic token of a reader', reader, 'repo', { statuses: false, hooks: false }],
    ['a classic token for statuses', admin, 'repo:status', { statuses: true, hooks: false }],
    ['a classic token for hooks', admin, 'admin:repo_hook', { statuses: false, hooks: true }],
    ['a classic token without scopes', admin, '', { statuses: false, hooks: false }],
    ['a fine-grained token', admin, undefined, { statuses: undefined, hooks: undefined }],
    ['a fine-grained token of a reader', reader, undefined, { statuses: false, hooks: false }],
    ['a token without reported permissions', undefined, undefined, { statuses: undefined, hooks: undefined }],
  ])('%s', (_, permissions, scopes, expected) => {
    expect(capabilitiesOf({ permissions }, scopes)).toEqual(expected);
  });
});

describe('a pull request', () => {
  const base = { repo: { id: 1 } };
  test.each([
    ['of a branch', { ref: 'x/y', sha: 'abc', repo: { id: 1 } }, false],
    ['of a fork', { ref: 'x/y', sha: 'abc', repo: { id: 2 } }, true],
    ['of a deleted fork', { ref: 'x/y', sha: 'abc', repo: null }, true],
  ])('is read: %s', (_, head, isFork) => {
    expect(toPullRequest({ number: 7, head, base }, access)).toEqual({
      number: 7,
      commit: 'abc',
      isFork,
      sourceBranch: 'x/y',
      location: { access, refName: 'refs/pull/7/head' },
    });
  });
});

test.each([
  ['OWNER', { isMember: true, hasContributed: false }],
  ['MEMBER', { isMember: true, hasContributed: false }],
  ['COLLABORATOR', { isMember: true, hasContributed: false }],
  ['CONTRIBUTOR', { isMember: false, hasContributed: true }],
  ['FIRST_TIME_CONTRIBUTOR', { isMember: false, hasContributed: false }],
  ['NONE', { isMember: false, hasContributed: false }],
  ['A_LATER_VALUE', { isMember: false, hasContributed: false }],
  [null, undefined],
  [undefined, undefined],
])('the author of a pull request is read: %s', (author_association, author) => {
  const [head, base] = [{ sha: 'abc', repo: null }, { repo: { id: 1 } }];
  expect(factsOf({ number: 7, head, base, author_association }).author).toEqual(author);
});

let local: LocalHost;
let checked: unknown[];

beforeEach(async () => {
  local = await startLocalHost();
  checked = [];
});

afterEach(() => local.close());

const host = (token?: string) =>
  new OwnerhostHost({
    http: localHttp([local]),
    source: { check: (location) => Promise.resolve(void checked.push(location)) },
    webUrl: `${local.url}/`,
    apiUrl: `${local.url}/api/v3/`,
    owner: 'acme',
    repo: 'shop',
    token,
  });
const repo = '/api/v3/repos/acme/shop';

test('accesses the web address with the token', () => {
  expect(host('tok')).toMatchObject({
    webUrl: `${local.url}/acme/shop`,
    access: { origin: `${local.url}/acme/shop.git`, credentials: { username: 'x-access-token', password: 'tok' } },
  });
});

test('checks a repository with both the API and git', async () => {
  local.answer((request, response) => {
    const answer = request.url?.includes('pulls') ? [{}] : { id: 1, permissions: { admin: true } };
    sendJson(response, answer, { 'x-oauth-scopes': 'repo' });
  });
  expect(await host('tok').check()).toEqual({ statuses: undefined, hooks: true });
  expect(checked).toEqual([host('tok').access]);
  expect(local.requests).toMatchObject([
    { line: `GET ${repo}`, headers: { authorization: 'Bearer tok', 'x-github-api-version': '2022-11-28' } },
    { line: `GET ${repo}/pulls?state=open&per_page=1` },
  ]);
});

test('writes nothing without a token', async () => {
  local.answer(byRoute({ [`GET ${repo}`]: { id: 1 }, [`GET ${repo}/pulls`]: [] }));
  expect(await host().check()).toEqual({ statuses: false, hooks: false });
  expect(local.requests[0]?.headers).not.toHaveProperty('authorization');
});

test('limits a status to the length that GitHub accepts', async () => {
  local.answer(byRoute({ [`POST ${repo}/statuses/abc`]: {} }));
  const status = { context: 'coppice/shop', state: 'failure', description: 'x'.repeat(200), targetUrl: 'https://a.b' };
  expect(await host('tok').setStatus('abc', { ...status, state: 'failure' })).toBe(true);
  expect(local.requests[0]?.body).toEqual({
    state: 'failure',
    context: 'coppice/shop',
    description: 'x'.repeat(140),
    target_url: 'https://a.b',
  });
});

describe('the comment', () => {
  const marker = '<!-- coppice shop -->';
  const me = { id: 5, type: 'User' };
  const other = { id: 6, type: 'User' };
  const location = { pullRequest: 7, marker };
  const list = `GET ${repo}/issues/7/comments`;
  const create = `POST ${repo}/issues/7/comments`;
  const written = () => local.requests.filter(({ line }) => !line.startsWith('GET'));

  test('is found by this ID', async () => {
    local.answer(byRoute({ [`PATCH ${repo}/issues/comments/3`]: {} }));
    expect(await host('tok').comment({ ...location, id: '3' }, 'new')).toBe('3');
    expect(local.requests).toMatchObject([{ body: { body: 'new' } }]);
  });

  test.each([
    ['ours', [{ id: 3, body: `old\r\n${marker}\r\n`, user: me }], '3'],
    ['not ours if only the output of a program looks like it', [{ id: 3, body: `${marker}\nold`, user: me }], '9'],
    ["not another user's, who can know the marker", [{ id: 3, body: marker, user: other }], '9'],
    ['not one that quotes the marker', [{ id: 3, body: `> ${marker}`, user: me }], '9'],
    ['not one of a deleted author', [{ id: 3, body: marker, user: null }], '9'],
    [
      'ours after another',
      [
        { id: 2, user: other },
        { id: 3, body: `x\n${marker}`, user: me },
      ],
      '3',
    ],
  ])('that is found by its marker is %s', async (_, comments, id) => {
    local.answer(
      byRoute({
        'GET /api/v3/user': me,
        [list]: comments,
        [`PATCH ${repo}/issues/comments/3`]: {},
        [create]: { id: 9 },
      }),
    );
    expect(await host('tok').comment(location, 'new')).toBe(id);
    expect(written()).toHaveLength(1);
  });

  test('that somebody deleted is written again', async () => {
    local.answer(byRoute({ 'GET /api/v3/user': me, [list]: [], [create]: { id: 9 } }));
    expect(await host('tok').comment({ ...location, id: '3' }, 'new')).toBe('9');
    expect(written().map(({ line }) => line)).toEqual([`PATCH ${repo}/issues/comments/3`, create]);
  });

  test("of an app's token belongs to a bot", async () => {
    const comments = [
      { id: 2, body: marker, user: other },
      { id: 3, body: marker, user: { id: 8, type: 'Bot' } },
    ];
    local.answer(byRoute({ [list]: comments, [`PATCH ${repo}/issues/comments/3`]: {} }));
    expect(await host('tok').comment(location, 'new')).toBe('3');
  });
});

describe('a written comment', () => {
  const comment = {
    body: '/coppice approve x',
    issue_url: `https://h${repo}/issues/7`,
    user: { id: 5, login: 'ann', type: 'User' },
  };
  const read = `GET ${repo}/issues/comments/3`;
  const permission = `GET ${repo}/collaborators/ann/permission`;

  test.each<[string, object, boolean]>([
    ['an administrator', { permission: 'admin', user: { id: 5 } }, true],
    ['a writer', { permission: 'write', user: { id: 5 } }, true],
    ['a reader', { permission: 'read', user: { id: 5 } }, false],
    ['a stranger', { permission: 'none', user: { id: 5 } }, false],
    ['somebody who took over the name', { permission: 'admin', user: { id: 6 } }, false],
    ['an unknown user', { permission: 'admin', user: null }, false],
  ])('of %s', async (_who, answer, canWrite) => {
    local.answer(byRoute({ [read]: comment, [permission]: answer }));
    expect(await host('tok').writtenComment(7, '3')).toEqual({ body: comment.body, author: 'ann', canWrite });
  });

  test('of somebody without any access cannot approve', async () => {
    local.answer(byRoute({ [read]: comment }));
    expect(await host('tok').writtenComment(7, '3')).toMatchObject({ canWrite: false });
  });

  test.each<[string, string | undefined, object]>([
    ['of another pull request', 'tok', { [read]: { ...comment, issue_url: `https://h${repo}/issues/17` } }],
    ['of a deleted user', 'tok', { [read]: { ...comment, user: null } }],
    ['that was deleted', 'tok', {}],
    ['that is read without a token', undefined, { [read]: comment }],
  ])('%s is ignored', async (_what, token, routes) => {
    local.answer(byRoute({ [permission]: { permission: 'admin', user: { id: 5 } }, ...routes }));
    expect(await host(token).writtenComment(7, '3')).toBeUndefined();
  });

  test('is not judged when the token does not permit asking', async () => {
    local.answer((request, response) => {
      if (request.url?.endsWith('/permission') === true) sendJson(response, { message: 'no' }, {}, 403);
      else sendJson(response, comment);
    });
    await expect(host('tok').writtenComment(7, '3')).rejects.toMatchObject({ reason: 'Forbidden' });
  });
});

describe('the webhook', () => {
  const hook = { url: 'https://coppice.example/hook', secret: 's' };
  const config = { url: hook.url, secret: 's', content_type: 'json', insecure_ssl: '0' };

  test('is created', async () => {
    local.answer(byRoute({ [`GET ${repo}/hooks`]: [], [`POST ${repo}/hooks`]: { id: 4, config: {} } }));
    expect(await host('tok').ensureWebhook(hook)).toBe('4');
    const events = ['push', 'create', 'delete', 'pull_request'];
    expect(local.requests[1]?.body).toEqual({ name: 'web', active: true, events, config });
  });

  test('reports comments on request', async () => {
    local.answer(byRoute({ [`GET ${repo}/hooks`]: [], [`POST ${repo}/hooks`]: { id: 4, config: {} } }));
    await host('tok').ensureWebhook({ ...hook, comments: true });
    expect(local.requests[1]?.body).toMatchObject({ events: expect.arrayContaining(['issue_comment']) });
  });

  test('that exists is updated', async () => {
    const hooks = [
      { id: 1, config: {} },
      { id: 4, config: { url: hook.url } },
    ];
    local.answer(byRoute({ [`GET ${repo}/hooks`]: hooks, [`PATCH ${repo}/hooks/4`]: hooks[1] }));
    expect(await host('tok').ensureWebhook(hook)).toBe('4');
    expect(local.requests[1]).toMatchObject({ line: `PATCH ${repo}/hooks/4`, body: { active: true, config } });
  });

  test.each([403, 404])('is absent if the token is answered %i', async (status) => {
    local.answer((_, response) => sendJson(response, {}, {}, status));
    expect(await host('tok').ensureWebhook(hook)).toBeUndefined();
  });

  test('that is gone counts as removed', async () => {
    await host('tok').removeWebhook('4');
    local.answer((_, response) => response.writeHead(204).end());
    await host('tok').removeWebhook('4');
    expect(local.requests.map(({ line }) => line)).toEqual(Array(2).fill(`DELETE ${repo}/hooks/4`));
  });
});
