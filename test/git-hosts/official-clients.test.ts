import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pushRepository } from '../sample/push-repository.ts';
import { readAsCloudorg, readAsGroupedhost, readAsOwnerhost, readAsWorkspacehost } from './official-clients.ts';
import type { HostRepository } from './official-clients.ts';
import type { KindName } from './kind.ts';
import { typeErrors } from './published-types.ts';
import type { TypedAnswer } from './published-types.ts';
import { startHost } from './running-host.ts';
import type { RunningHost } from './running-host.ts';

interface Case {
  kind: KindName;
  path: string;
  fork: string;
  gitPath: string;
  username: string;
  read: (repository: HostRepository) => Promise<TypedAnswer[]>;
}

const cases: Case[] = [
  {
    kind: 'ownerhost',
    path: 'acme/shop',
    fork: 'mallory/shop',
    gitPath: 'acme/shop.git',
    username: 'x-access-token',
    read: readAsOwnerhost,
  },
  {
    kind: 'groupedhost',
    path: 'acme/web/shop',
    fork: 'mallory/shop',
    gitPath: 'acme/web/shop.git',
    username: 'oauth2',
    read: readAsGroupedhost,
  },
  {
    kind: 'cloudorg',
    path: 'acme/The Web/shop',
    fork: 'acme/The Web/shop.mallory',
    gitPath: 'acme/The%20Web/_git/shop',
    username: 'pat',
    read: readAsCloudorg,
  },
  {
    kind: 'workspacehost',
    path: 'acme/shop',
    fork: 'mallory/shop',
    gitPath: 'acme/shop.git',
    username: 'x-token-auth',
    read: readAsWorkspacehost,
  },
];

const answers: TypedAnswer[] = [];

describe.each(cases)('$kind', ({ kind, path, fork, gitPath, username, read }) => {
  const token = 'a-token-of-the-test';
  let host: RunningHost;
  let commit: string;

  beforeAll(async () => {
    host = await startHost(kind);
    await host.admin.put(path, { tokens: { [token]: ['push', 'statuses', 'comments', 'hooks'] } });
    const repository = { url: `${host.url}/${gitPath}`, credentials: { username, password: token } };
    await pushRepository({ ...repository, branch: 'main', files: { 'a.txt': '1' } });
    commit = await pushRepository({ ...repository, branch: 'feature/a', files: { 'a.txt': '2' } });
    await host.admin.put(fork, { forkOf: path, tokens: { [token]: [] } });
    for (const pull of [
      { branch: 'feature/a', labels: ['preview'], isDraft: true },
      { branch: 'feature/a', from: fork },
      { branch: 'feature/a' },
    ]) {
      await host.admin.openPull(path, pull);
    }
    await host.admin.closePull(path, 3);
  });

  afterAll(() => host.stop());

  test('lets its official client read and write everything that Coppice uses', async () => {
    answers.push(...(await read({ url: host.url, path, token, commit })));
    const { statuses, comments, hooks } = await host.admin.record(path);
    expect(statuses).toMatchObject([{ commit, targetUrl: 'http://page.example.com/' }]);
    expect(comments).toMatchObject([{ pullRequest: 1, body: 'better' }]);
    expect(hooks).toEqual([]);
  });
});

test('answers with the types that the official package publishes', () => {
  expect(answers.length).toBeGreaterThanOrEqual(24);
  expect(typeErrors(answers)).toEqual([]);
}, 60_000);

test('detects a wrong type, a missing field and an unknown field', () => {
  const from = "import type { components } from '@octokit/openapi-types';";
  const type = "components['schemas']['simple-user']";
  expect(typeErrors([{ name: 'user', from, type, value: { login: 1 } }]).join()).toContain('user: Type');
}, 60_000);
