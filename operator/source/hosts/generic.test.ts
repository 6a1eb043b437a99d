import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { GenericHost } from './generic.ts';
import { byRoute, localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';

let local: LocalHost;

beforeEach(async () => {
  local = await startLocalHost();
});

afterEach(() => local.close());

const credentials = { username: 'coppice', password: 'secret' };

function hostAt(origin: string, { isAnonymous = false } = {}) {
  const access = { origin, credentials: isAnonymous ? undefined : credentials };
  return new GenericHost({ check: () => Promise.resolve() }, access, localHttp([local]));
}

// https://docs.gitea.com/api: issueGetComment and repoGetRepoPermissions.
describe('a written comment at Gitea', () => {
  const comment = {
    body: '/coppice approve x',
    issue_url: '',
    pull_request_url: 'http://gitea.example/acme/shop/pulls/7',
    user: { id: 5, login: 'ann' },
  };
  const repo = '/api/v1/repos/acme/shop';
  const read = `GET ${repo}/issues/comments/3`;
  const permission = `GET ${repo}/collaborators/ann/permission`;

  test.each<[string, object, boolean]>([
    ['the owner', { permission: 'owner', user: { id: 5 } }, true],
    ['an administrator', { permission: 'admin', user: { id: 5 } }, true],
    ['a writer', { permission: 'write', user: { id: 5 } }, true],
    ['a reader', { permission: 'read', user: { id: 5 } }, false],
    ['a stranger', { permission: 'none', user: { id: 5 } }, false],
    ['somebody who took over the name', { permission: 'admin', user: { id: 6 } }, false],
    ['an unknown user', { permission: 'admin', user: null }, false],
  ])('of %s', async (_who, answer, canWrite) => {
    local.answer(byRoute({ [read]: comment, [permission]: answer }));
    const found = await hostAt(`${local.url}/acme/shop.git`).writtenComment(7, '3');
    expect(found).toEqual({ body: comment.body, author: 'ann', canWrite });
    const basic = `Basic ${Buffer.from('coppice:secret').toString('base64')}`;
    expect(local.requests.map(({ headers }) => headers.authorization)).toEqual([basic, basic]);
  });

  test('is found below the path of the server', async () => {
    const routes = { [read]: comment, [permission]: { permission: 'write', user: { id: 5 } } };
    const below: [string, unknown][] = Object.entries(routes).map(([route, answer]) => [
      route.replace('/api', '/git/api'),
      answer,
    ]);
    local.answer(byRoute(Object.fromEntries(below)));
    expect(await hostAt(`${local.url}/git/acme/shop/`).writtenComment(7, '3')).toMatchObject({ canWrite: true });
  });

  test.each<[string, string, boolean, object]>([
    ['of another pull request', '/acme/shop', false, { ...comment, pull_request_url: 'http://x/acme/shop/pulls/17' }],
    ['of an issue', '/acme/shop', false, { ...comment, pull_request_url: '' }],
    ['of a deleted user', '/acme/shop', false, { ...comment, user: null }],
    ['that is read without credentials', '/acme/shop', true, comment],
    ['of a repository without an owner', '/shop.git', false, comment],
  ])('%s is ignored', async (_what, path, isAnonymous, answer) => {
    local.answer(byRoute({ [read]: answer, [permission]: { permission: 'admin', user: { id: 5 } } }));
    const host = hostAt(`${local.url}${path}`, { isAnonymous });
    expect(await host.writtenComment(7, '3')).toBeUndefined();
  });

  test('is ignored over SSH, and at a server that is not Gitea', async () => {
    expect(await hostAt('ssh://git@git.example/acme/shop.git').writtenComment(7, '3')).toBeUndefined();
    local.answer((_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('no such page'));
    expect(await hostAt(`${local.url}/acme/shop.git`).writtenComment(7, '3')).toBeUndefined();
  });

  test('is not judged when the credentials do not permit asking', async () => {
    local.answer((request, response) => {
      if (request.url?.endsWith('/permission') === true) sendJson(response, { message: 'no' }, {}, 403);
      else sendJson(response, comment);
    });
    await expect(hostAt(`${local.url}/acme/shop.git`).writtenComment(7, '3')).rejects.toThrow('403');
  });
});
