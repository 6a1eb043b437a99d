import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SourceUnreachableError } from '../errors.ts';
import { GenericHost } from './generic.ts';
import { byRoute, localHttp, sendJson, startLocalHost, type LocalHost } from './testing/local-host.ts';

let local: LocalHost;

beforeEach(async () => {
  local = await startLocalHost();
});

afterEach(() => local.close());

const credentials = { username: 'coppice', password: 'secret' };

function hostAt(origin: string, { isAnonymous = false, now = () => new Date() } = {}) {
  const access = { origin, credentials: isAnonymous ? undefined : credentials };
  return new GenericHost({ check: () => Promise.resolve() }, access, localHttp([local], undefined, now));
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

// https://docs.gitea.com/api: repoGetPullRequest and repoGetRepoPermissions.
describe('the authors of pull requests at Gitea', () => {
  const repo = '/api/v1/repos/acme/shop';
  const ann = { id: 5, login: 'ann' };
  const eve = { id: 6, login: 'eve' };
  const pull = (number: number) => `GET ${repo}/pulls/${number}`;
  const permission = (login: string) => `GET ${repo}/collaborators/${login}/permission`;
  const asked = () => local.requests.map(({ line }) => line);

  test('are members if they can push, and each is asked about once', async () => {
    local.answer(
      byRoute({
        [pull(1)]: { user: ann },
        [pull(2)]: { user: eve },
        [pull(3)]: { user: ann },
        [pull(4)]: { user: null },
        [permission('ann')]: { permission: 'write', user: { id: 5 } },
        [permission('eve')]: { permission: 'read', user: { id: 6 } },
      }),
    );
    expect(await hostAt(`${local.url}/acme/shop.git`).authorsOf([1, 2, 3, 4])).toEqual(
      new Map([
        [1, { isMember: true }],
        [2, { isMember: false }],
        [3, { isMember: true }],
      ]),
    );
    expect(asked()).toEqual([pull(1), permission('ann'), pull(2), permission('eve'), pull(3), pull(4)]);
  });

  test('are not members if somebody else has their name now', async () => {
    local.answer(byRoute({ [pull(1)]: { user: ann }, [permission('ann')]: { permission: 'admin', user: { id: 6 } } }));
    expect(await hostAt(`${local.url}/acme/shop.git`).authorsOf([1])).toEqual(new Map([[1, { isMember: false }]]));
  });

  test('are unknown, and not asked about again, where the credentials do not permit it', async () => {
    local.answer((request, response) => {
      if (request.url?.endsWith('/permission') === true) sendJson(response, { message: 'only admins' }, {}, 403);
      else sendJson(response, { user: ann });
    });
    expect(await hostAt(`${local.url}/acme/shop.git`).authorsOf([1, 2, 3])).toEqual(new Map());
    expect(asked()).toEqual([pull(1), permission('ann')]);
  });

  test('are unknown over SSH, without credentials, and at a server that is not Gitea', async () => {
    expect(await hostAt('ssh://git@git.example/acme/shop.git').authorsOf([1])).toEqual(new Map());
    local.answer((_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('no such page'));
    expect(await hostAt(`${local.url}/acme/shop.git`, { isAnonymous: true }).authorsOf([1])).toEqual(new Map());
    expect(asked()).toEqual([]);
    expect(await hostAt(`${local.url}/acme/shop.git`).authorsOf([1])).toEqual(new Map());
  });

  test('are read later if the server fails', async () => {
    local.answer((_, response) => sendJson(response, { message: 'no' }, {}, 500));
    await expect(hostAt(`${local.url}/acme/shop.git`).authorsOf([1])).rejects.toThrow(SourceUnreachableError);
  });

  test('occupy no slot for longer than a minute, however slowly the server answers', async () => {
    let at = Date.now();
    local.answer((_, response) => {
      at += 25_000;
      sendJson(response, { user: null });
    });
    const host = hostAt(`${local.url}/acme/shop.git`, { now: () => new Date(at) });
    await expect(host.authorsOf([1, 2, 3, 4, 5])).rejects.toThrow('could not be read within 60 s. Check the host');
    expect(asked()).toEqual([pull(1), pull(2), pull(3)]);
  });
});
