import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { byRoute, localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';
import { capabilitiesOf, statusKey, toPullRequest, WorkspacehostHost } from './workspacehost.ts';

test.each([
  ['repository, pullrequest:write, webhook', { statuses: true, hooks: true }],
  ['repository:write pullrequest', { statuses: true, hooks: false }],
  ['pullrequest', { statuses: false, hooks: false }],
  [undefined, { statuses: undefined, hooks: undefined }],
])('reads the scopes %s', (scopes, expected) => {
  expect(capabilitiesOf(scopes)).toEqual(expected);
});

test('gives a status a key that Bitbucket accepts, different for each environment', () => {
  const long = `coppice/${'x'.repeat(40)}`;
  expect(statusKey('coppice/shop')).toBe('coppice/shop');
  expect(statusKey(`${long}a`)).toHaveLength(40);
  expect(statusKey(`${long}a`)).not.toBe(statusKey(`${long}b`));
});

describe('a pull request', () => {
  const credentials = { username: 'x-token-auth', password: 'tok' };
  const own = { origin: 'https://bitbucket.org/acme/shop.git', credentials };
  const full = 'a'.repeat(40);
  const at = (name: string) => `https://bitbucket.org/${name}.git`;
  test.each([
    ['of a branch', 'acme/shop', 'abc', undefined, false, own, 'refs/heads/x/y'],
    ['with a complete commit id', 'acme/shop', full, full, false, own, 'refs/heads/x/y'],
    [
      'of a fork in the workspace',
      'acme/fork',
      'abc',
      undefined,
      true,
      { origin: at('acme/fork'), credentials },
      'refs/heads/x/y',
    ],
    [
      'of a fork in another workspace, which gets no token',
      'eve/shop',
      'abc',
      undefined,
      true,
      { origin: at('eve/shop'), credentials: undefined },
      'refs/heads/x/y',
    ],
    [
      'of a deleted fork, whose branch may have a name of ours',
      undefined,
      'abc',
      undefined,
      true,
      own,
      'refs/pull-requests/7/from',
    ],
  ])('is read: %s', (_, from, hash, commit, isFork, access, refName) => {
    const repository = from === undefined ? null : { full_name: from, uuid: `{${from}}` };
    const source = { branch: { name: 'x/y' }, commit: { hash }, repository };
    const found = { id: 7, source, destination: { repository: { full_name: 'acme/shop', uuid: '{acme/shop}' } } };
    expect(toPullRequest(found, own, 'https://bitbucket.org/')).toEqual({
      number: 7,
      commit,
      isFork,
      sourceBranch: 'x/y',
      location: { access, refName },
    });
  });
});

test('treats a repository of the same name and another ID as a fork', () => {
  const own = { origin: 'https://bitbucket.org/acme/shop.git', credentials: undefined };
  const at = (uuid: string) => ({ repository: { full_name: 'acme/shop', uuid } });
  const found = { id: 7, source: { branch: { name: 'x' }, ...at('{1}') }, destination: at('{2}') };
  expect(toPullRequest(found, own, 'https://bitbucket.org/').isFork).toBe(true);
});

test('is located at refs/pull-requests if git must not be asked for the name of its branch', () => {
  const own = { origin: 'https://bitbucket.org/acme/shop.git', credentials: undefined };
  const repository = { full_name: 'acme/shop', uuid: '{1}' };
  const found = { id: 7, source: { branch: { name: 'x y' }, repository }, destination: { repository } };
  expect(toPullRequest(found, own, 'https://bitbucket.org/').location.refName).toBe('refs/pull-requests/7/from');
});

let local: LocalHost;

beforeEach(async () => {
  local = await startLocalHost();
});

afterEach(() => local.close());

const host = () =>
  new WorkspacehostHost({
    http: localHttp([local]),
    source: { check: () => Promise.resolve() },
    webUrl: local.url,
    apiUrl: `${local.url}/2.0`,
    workspace: 'acme',
    repository: 'shop',
    token: 'tok',
  });
const repo = '/2.0/repositories/acme/shop';

test('accesses the web address with the token, whose scopes are reported', async () => {
  local.answer((request, response) => {
    const answer = request.url?.includes('pullrequests') ? { values: [{}] } : { uuid: '{1}' };
    sendJson(response, answer, { 'x-oauth-scopes': 'repository' });
  });
  expect(host()).toMatchObject({
    webUrl: `${local.url}/acme/shop`,
    access: { origin: `${local.url}/acme/shop.git`, credentials: { username: 'x-token-auth', password: 'tok' } },
  });
  expect(await host().check()).toEqual({ statuses: true, hooks: false });
  expect(local.requests).toMatchObject([
    { line: `GET ${repo}`, headers: { authorization: 'Bearer tok' } },
    { line: `GET ${repo}/pullrequests?state=OPEN&pagelen=1` },
  ]);
});

test("writes a status in the host's terms", async () => {
  local.answer(byRoute({ [`POST ${repo}/commit/abc/statuses/build`]: {} }));
  const status = {
    context: 'coppice/shop',
    state: 'pending',
    description: 'builds',
    targetUrl: 'https://a.b',
  } as const;
  expect(await host().setStatus('abc', status)).toBe(true);
  expect(local.requests[0]?.body).toEqual({
    key: 'coppice/shop',
    name: 'coppice/shop',
    state: 'INPROGRESS',
    description: 'builds',
    url: 'https://a.b',
  });
});

test('finds the comment by its marker, beyond comments of others and deleted ones', async () => {
  const marker = 'coppice: shop';
  const comments = `${repo}/pullrequests/7/comments`;
  const values = [
    { id: 1, deleted: true, content: { raw: marker } },
    { id: 2, content: { raw: marker } },
    { id: 3, content: { raw: `x\n${marker}` } },
  ];
  local.answer((request, response) => {
    if (request.method === 'GET') sendJson(response, { values });
    else sendJson(response, { id: 3 }, {}, request.url?.endsWith('/2') ? 403 : 200);
  });
  expect(await host().comment({ pullRequest: 7, marker }, 'new')).toBe('3');
  expect(local.requests.map(({ line }) => line)).toEqual([
    `GET ${comments}?pagelen=100`,
    `PUT ${comments}/2`,
    `PUT ${comments}/3`,
  ]);
  expect(local.requests[2]?.body).toEqual({ content: { raw: 'new' } });
});

describe('the webhook', () => {
  const hook = { url: 'https://coppice.example/hook', secret: 's' };
  const uuid = '{a-b}';

  test.each([
    ['made', [{ uuid: '{x}', url: 'https://x.example' }], `POST ${repo}/hooks`],
    ['brought up to date', [{ uuid, url: hook.url }], `PUT ${repo}/hooks/%7Ba-b%7D`],
  ])('is %s', async (_, values, line) => {
    local.answer(byRoute({ [`GET ${repo}/hooks`]: { values }, [line]: { uuid, url: hook.url } }));
    expect(await host().ensureWebhook(hook)).toBe(uuid);
    expect(local.requests[1]).toMatchObject({ line, body: { ...hook, active: true } });
  });

  test('is absent if the token has no permission', async () => {
    local.answer((_, response) => sendJson(response, {}, {}, 403));
    expect(await host().ensureWebhook(hook)).toBeUndefined();
    await host().removeWebhook(uuid);
    expect(local.requests.at(-1)?.line).toBe(`DELETE ${repo}/hooks/%7Ba-b%7D`);
  });
});
