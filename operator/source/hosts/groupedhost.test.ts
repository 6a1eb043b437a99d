import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { capabilitiesOf, GroupedhostHost, toPullRequest } from './groupedhost.ts';
import { byRoute, localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';

const level = (access_level: number) => ({ access_level });

describe('the capabilities of a token', () => {
  test.each([
    ['a maintainer', { project_access: level(40), group_access: null }, ['api'], { statuses: true, hooks: true }],
    ['a developer', { project_access: level(30), group_access: null }, ['api'], { statuses: true, hooks: false }],
    ['an owner by the group', { project_access: level(20), group_access: level(50) }, ['api'], both(true)],
    ['a reporter', { project_access: level(20), group_access: null }, undefined, both(false)],
    ['a maintainer whose token can only read', { project_access: level(40) }, ['read_api'], both(false)],
    ['a maintainer with a token of unknown scopes', { project_access: level(40) }, undefined, both(undefined)],
    ['an administrator', { project_access: null, group_access: null }, ['api'], both(undefined)],
    ['a token without reported permissions', undefined, undefined, both(undefined)],
  ])('%s', (_, permissions, scopes, expected) => {
    expect(capabilitiesOf({ permissions }, scopes)).toEqual(expected);
  });

  function both(may: boolean | undefined) {
    return { statuses: may, hooks: may };
  }
});

describe('a pull request', () => {
  const access = { origin: 'https://gitlab.com/acme/shop.git', credentials: undefined };
  test.each([
    ['of a branch', { sha: 'abc', source_project_id: 1 }, 'abc', false],
    ['of a fork', { sha: 'abc', source_project_id: 2 }, 'abc', true],
    ['of a deleted fork', { sha: 'abc', source_project_id: null }, 'abc', true],
    ['that was just opened', { sha: null, source_project_id: 1 }, undefined, false],
  ])('is read: %s', (_, fields, commit, isFork) => {
    const location = { access, refName: 'refs/merge-requests/7/head' };
    const found = toPullRequest({ iid: 7, target_project_id: 1, source_branch: 'x/y', ...fields }, access);
    expect(found).toEqual({ number: 7, commit, isFork, sourceBranch: 'x/y', location });
  });
});

let local: LocalHost;

beforeEach(async () => {
  local = await startLocalHost();
});

afterEach(() => local.close());

const host = () =>
  new GroupedhostHost({
    http: localHttp([local]),
    source: { check: () => Promise.resolve() },
    webUrl: `${local.url}/gitlab/`,
    group: 'acme/web',
    project: 'shop',
    token: 'tok',
  });
const project = '/gitlab/api/v4/projects/acme%2Fweb%2Fshop';

test('accesses the web address with the token', () => {
  expect(host()).toMatchObject({
    webUrl: `${local.url}/gitlab/acme/web/shop`,
    access: { origin: `${local.url}/gitlab/acme/web/shop.git`, credentials: { username: 'oauth2', password: 'tok' } },
  });
});

test.each([
  ['a token that can read itself', { scopes: ['api'] }, true],
  ['a token that cannot read itself', undefined, undefined],
])('reports the capabilities of %s', async (_, self, expected) => {
  const permissions = { project_access: level(40), group_access: null };
  local.answer(
    byRoute({
      [`GET ${project}`]: { id: 1, permissions },
      [`GET ${project}/merge_requests`]: [],
      'GET /gitlab/api/v4/personal_access_tokens/self': self,
    }),
  );
  expect(await host().check()).toEqual({ statuses: expected, hooks: expected });
  expect(local.requests[0]?.headers['private-token']).toBe('tok');
});

describe('the authors of pull requests', () => {
  const requests = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ iid: index + 1, source_project_id: 1, target_project_id: 1, author: { id: index + 1 } },
    }));
  const members = `GET ${project}/members/all`;
  const asked = () => local.requests.filter(({ line }) => line.startsWith(members));

  test('are members if they can push', async () => {
    const people = [
      { id: 1, access_level: 30, state: 'active' },
      { id: 2, access_level: 20, state: 'active' },
      { id: 3, access_level: 50, state: 'blocked' },
    ];
    local.answer(byRoute({ [`GET ${project}/merge_requests`]: requests(4), [members]: people }));
    const found = await host().openPullRequests({ authors: true });
    expect(found.map(({ facts }) => facts.author)).toEqual(
      [true, false, false, false].map((isMember) => ({ isMember })),
    );
    expect(asked().map(({ line }) => line)).toEqual([`${members}?user_ids=1,2,3,4&per_page=100`]);
  });

  test('are unknown beyond those of a few requests, however many people open merge requests', async () => {
    local.answer((request, response) => {
      const url = new URL(request.url ?? '', local.url);
      if (url.pathname.endsWith('/members/all')) return sendJson(response, []);
      const page = Number(url.searchParams.get('page') ?? 1);
      const next = `${project}/merge_requests?page=${page + 1}`;
      const listed = requests(510).slice((page - 1) * 51, page * 51);
      sendJson(response, listed, page < 10 ? { link: `<${next}>; rel="next"` } : {});
    });
    const found = await host().openPullRequests({ authors: true });
    expect(found.map(({ facts }) => facts.author?.isMember).filter((isMember) => isMember === undefined)).toHaveLength(
      10,
    );
    expect(asked()).toHaveLength(5);
  });

  test('are asked about only if a rule needs it, and unknown if the token cannot see members', async () => {
    local.answer(byRoute({ [`GET ${project}/merge_requests`]: requests(1) }));
    for (const authors of [false, true]) {
      expect((await host().openPullRequests({ authors }))[0]?.facts.author).toBeUndefined();
      expect(asked()).toHaveLength(authors ? 1 : 0);
    }
  });
});

describe('a status', () => {
  const status = { context: 'coppice/shop', state: 'failure', description: 'no', targetUrl: 'https://a.b' } as const;
  const body = { state: 'failed', name: 'coppice/shop', description: 'no', target_url: 'https://a.b' };

  test("is written in GitLab's terms", async () => {
    local.answer(byRoute({ [`POST ${project}/statuses/abc`]: { id: 1 } }));
    expect(await host().setStatus('abc', status)).toBe(true);
    expect(local.requests[0]?.body).toEqual(body);
  });

  test.each([
    ['as it is wanted', 'failed', true],
    ['otherwise', 'running', false],
  ])('that GitLab refuses to change is read: it is %s', async (_, there, isFine) => {
    local.answer((request, response) => {
      if (request.method === 'POST') sendJson(response, { message: 'Cannot transition status' }, {}, 400);
      else sendJson(response, [{ id: 1, name: 'coppice/shop', status: there }]);
    });
    const set = host().setStatus('abc', status);
    if (isFine) expect(await set).toBe(true);
    else await expect(set).rejects.toMatchObject({ reason: 'Refused' });
    const query = 'name=coppice%2Fshop&per_page=100';
    expect(local.requests[1]?.line).toBe(`GET ${project}/repository/commits/abc/statuses?${query}`);
  });
});

describe('the comment', () => {
  const marker = 'coppice: shop';
  const notes = `${project}/merge_requests/7/notes`;
  const user = 'GET /gitlab/api/v4/user';
  test.each([
    ['ours', 5, { id: 5 }, '3'],
    ["not another user's", 6, { id: 5 }, '9'],
    ['none if the token cannot read its user', 5, undefined, '9'],
  ])('that is found by its marker is %s', async (_, author, me, id) => {
    const list = [{ id: 3, body: `x\n${marker}`, author: { id: author } }];
    local.answer(
      byRoute({ [user]: me, [`GET ${notes}`]: list, [`PUT ${notes}/3`]: { id: 3 }, [`POST ${notes}`]: { id: 9 } }),
    );
    expect(await host().comment({ pullRequest: 7, marker }, 'new')).toBe(id);
    expect(local.requests.at(-1)?.body).toEqual({ body: 'new' });
  });
});

describe('a written comment', () => {
  const note = { body: '/coppice approve x', system: false, author: { id: 5, username: 'ann' } };
  const read = `GET ${project}/merge_requests/7/notes/3`;
  const member = `GET ${project}/members/all/5`;

  test.each<[string, object | undefined, boolean]>([
    ['a developer', { id: 5, access_level: 30, state: 'active' }, true],
    ['an owner', { id: 5, access_level: 50, state: 'active' }, true],
    ['a reporter', { id: 5, access_level: 20, state: 'active' }, false],
    ['a blocked developer', { id: 5, access_level: 30, state: 'blocked' }, false],
    ['a stranger', undefined, false],
  ])('of %s', async (_who, answer, canWrite) => {
    local.answer(byRoute({ [read]: note, [member]: answer }));
    expect(await host().writtenComment(7, '3')).toEqual({ body: note.body, author: 'ann', canWrite });
  });

  test.each([
    ['of GitLab itself', { ...note, system: true }],
    ['that was deleted', undefined],
  ])('%s is ignored', async (_what, found) => {
    local.answer(byRoute({ [read]: found, [member]: { id: 5, access_level: 50, state: 'active' } }));
    expect(await host().writtenComment(7, '3')).toBeUndefined();
  });
});

describe('the webhook', () => {
  const hook = { url: 'https://coppice.example/hook', secret: 's' };
  const events = { push_events: true, tag_push_events: true, merge_requests_events: true, note_events: false };
  const wanted = { url: hook.url, token: 's', ...events };

  test.each([
    ['made', [{ id: 1, url: 'https://x.example' }], `POST ${project}/hooks`],
    ['brought up to date', [{ id: 4, url: hook.url }], `PUT ${project}/hooks/4`],
  ])('is %s', async (_, hooks, line) => {
    local.answer(byRoute({ [`GET ${project}/hooks`]: hooks, [line]: { id: 4, url: hook.url } }));
    expect(await host().ensureWebhook(hook)).toBe('4');
    expect(local.requests[1]).toMatchObject({ line, body: wanted });
  });

  test('reports comments on request', async () => {
    local.answer(byRoute({ [`GET ${project}/hooks`]: [], [`POST ${project}/hooks`]: { id: 4, url: hook.url } }));
    await host().ensureWebhook({ ...hook, comments: true });
    expect(local.requests[1]).toMatchObject({ body: { ...wanted, note_events: true } });
  });

  test('is absent if the token has no permission', async () => {
    local.answer((_, response) => sendJson(response, {}, {}, 403));
    expect(await host().ensureWebhook(hook)).toBeUndefined();
    await host().removeWebhook('4');
  });
});
