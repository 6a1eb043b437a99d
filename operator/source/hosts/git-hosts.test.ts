import { describe, expect, test } from '@jest/globals';
import type { Repository } from '../../../crds/repository.ts';
import type { Secret } from '../../../kubernetes/resource-type.ts';
import { GitHosts, ownerhostUrls } from './git-hosts.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const token = { token: base64('tok\n') };
const ownedBy = (uid: string) => ({ ownerReferences: [{ apiVersion: 'v', kind: 'Repository', name: 'shop', uid }] });
const secrets: Record<string, Pick<Secret, 'data'> & { metadata?: Partial<Secret['metadata']> }> = {
  git: { data: token },
  wrong: { data: { x: base64('y') } },
  own: { data: token, metadata: ownedBy('uid-of-shop') },
  others: { data: token, metadata: ownedBy('uid-of-other') },
  bound: {
    data: token,
    metadata: { ...ownedBy('uid-of-shop'), annotations: { 'coppice.dev/credentials-for': 'https://git.acme.example' } },
  },
};
const defaults = {
  ownerhost: { webUrl: 'https://github.com', apiUrl: 'https://api.github.com' },
  groupedhost: { webUrl: 'https://gitlab.com' },
  workspacehost: { webUrl: 'https://bitbucket.org', apiUrl: 'https://api.bitbucket.org/2.0' },
};

const flowOwner = { tenant: 'account alice', group: 'acme' };
const hosts = new GitHosts({
  client: {
    find: (_: unknown, { name }: { name: string }) => {
      const secret = secrets[name];
      return Promise.resolve(secret && { ...secret, metadata: { name, ...secret.metadata } });
    },
  },
  defaults,
  flows: { ofNamespace: () => flowOwner },
} as never);

const of = (spec: object) =>
  hosts.of({
    metadata: { name: 'shop', namespace: 'group-acme', uid: 'uid-of-shop' },
    spec: { type: Object.keys(spec)[0], ...spec },
  } as Repository);

const credentialsSecret = 'git';
const ownerhost = { owner: 'acme', repo: 'shop' };
const groupedhost = { group: 'a/b', project: 'shop' };
const cloudorg = { orgUrl: 'https://dev.azure.com/acme', project: 'Web', repoName: 'shop' };
const workspacehost = { workspace: 'acme', repository: 'shop' };

test.each([
  [{ ownerhost: { ...ownerhost, credentialsSecret } }, 'https://github.com/acme/shop', '.git', 'x-access-token'],
  [
    { ownerhost: { ...ownerhost, instanceUrl: 'https://git.acme.example/', credentialsSecret } },
    'https://git.acme.example/acme/shop',
    '.git',
    'x-access-token',
  ],
  [{ groupedhost: { ...groupedhost, credentialsSecret } }, 'https://gitlab.com/a/b/shop', '.git', 'oauth2'],
  [
    { groupedhost: { ...groupedhost, instanceUrl: 'https://acme.example/gitlab', credentialsSecret } },
    'https://acme.example/gitlab/a/b/shop',
    '.git',
    'oauth2',
  ],
  [{ cloudorg: { ...cloudorg, credentialsSecret } }, 'https://dev.azure.com/acme/Web/_git/shop', '', 'coppice'],
  [
    { workspacehost: { ...workspacehost, credentialsSecret } },
    'https://bitbucket.org/acme/shop',
    '.git',
    'x-token-auth',
  ],
])('finds %j at %s', async (spec, webUrl, suffix, username) => {
  const host = await of(spec);
  expect(host.webUrl).toBe(webUrl);
  const credentials = { username, password: 'tok' };
  expect(host.access).toEqual({ origin: webUrl + suffix, credentials, flowOwner });
});

test('needs no token for a public repository of ownerhost', async () => {
  expect((await of({ ownerhost })).access.credentials).toBeUndefined();
});

test.each([{ groupedhost }, { cloudorg }, { workspacehost }])(
  'requires the user to act if %j names no Secret',
  async (spec) => {
    await expect(of(spec)).rejects.toMatchObject({ name: 'StallingError', reason: 'CredentialsMissing' });
  },
);

describe.each(['missing', 'wrong'])('the Secret %s', (name) => {
  const named = { credentialsSecret: name };
  test.each([
    { ownerhost: { ...ownerhost, ...named } },
    { groupedhost: { ...groupedhost, ...named } },
    { cloudorg: { ...cloudorg, ...named } },
    { workspacehost: { ...workspacehost, ...named } },
  ])('is awaited by %j', async (spec) => {
    const message = `the Secret ${name} with the key token is not in group-acme. Create it`;
    await expect(of(spec)).rejects.toMatchObject({ name: 'WaitingError', reason: 'CredentialsMissing', message });
  });
});

describe('a token', () => {
  const at = (credentialsSecret: string, host = 'git.acme.example') =>
    of({ ownerhost: { ...ownerhost, instanceUrl: `https://${host}`, credentialsSecret } });

  test.each(['git', 'own', 'bound'])('is sent for %s', async (name) => {
    expect((await at(name)).access.credentials?.password).toBe('tok');
  });

  test.each([
    ["another Repository's", 'others', undefined, 'for the Repository shop alone'],
    [
      'for another server',
      'bound',
      'evil.example',
      'are for https://git.acme.example and are not sent to https://evil.example',
    ],
  ])('is not sent for %s', async (_what, name, host, message) => {
    const refused = { name: 'StallingError', reason: 'SecretNotAllowed', message: expect.stringContaining(message) };
    await expect(at(name, host)).rejects.toMatchObject(refused);
  });
});

describe('the addresses of ownerhost', () => {
  test.each([
    [undefined, 'https://github.com', 'https://api.github.com'],
    ['https://github.com/', 'https://github.com', 'https://api.github.com'],
    ['https://git.acme.example', 'https://git.acme.example', 'https://git.acme.example/api/v3'],
    ['https://git.acme.example/', 'https://git.acme.example/', 'https://git.acme.example/api/v3'],
  ])('%s', (instanceUrl, webUrl, apiUrl) => {
    expect(ownerhostUrls(instanceUrl, defaults.ownerhost)).toEqual({ webUrl, apiUrl });
  });
});
