import { describe, expect, test } from '@jest/globals';
import { Invalid } from '../shared/errors.ts';
import { parse } from '../http/parse.ts';
import { addRepositorySchema, credentialTexts, originFault, sourceSpec } from './repository-parameters.ts';

const form = 'must be an http://, https:// or ssh:// URL, or user@host:path, without a password';
const credentialsInIt = 'must not contain credentials: send them as username and password';

test.each([
  ['https://git.example/a.git', undefined],
  ['http://git.localhost:8080/a', undefined],
  ['HTTPS://git.example/a', form],
  ['git@host:a/b.git', undefined],
  ['host:a/b.git', undefined],
  ['ssh://git@host:2222/a', undefined],
  ['ssh://git:secret@host/a', form],
  ['git:secret@host:a', form],
  ['git@host:-a', form],
  ['https://user:secret@host/a', credentialsInIt],
  ['HTTPS://token@host/a', credentialsInIt],
  ['ftp://host/a', form],
  ['file:///etc/passwd', form],
  ['--upload-pack=x', form],
  ['ext::sh -c x', form],
  ['-oProxyCommand=x:y', form],
  ['https://', form],
  ['', form],
])('%s', (origin, expected) => {
  expect(originFault(origin)).toBe(expected);
});

const request = (type: string, params: object) => ({ name: 'Shop', type, params });

describe('the stored source', () => {
  test.each([
    ['generic', { origin: 'https://h/a' }, { origin: 'https://h/a' }, undefined],
    [
      'generic',
      { origin: 'https://h/a', username: 'bot', password: 'hunter2' },
      { origin: 'https://h/a', credentialsSecret: 's' },
      { username: 'bot', password: 'hunter2' },
    ],
    ['generic', { origin: 'git@h:a/b', username: '', password: '' }, { origin: 'git@h:a/b' }, undefined],
    ['ownerhost', { owner: 'o', repo: 'r' }, { owner: 'o', repo: 'r' }, undefined],
    [
      'ownerhost',
      { owner: 'o', repo: 'r', token: ' t\n', instanceUrl: 'https://h' },
      { owner: 'o', repo: 'r', instanceUrl: 'https://h', credentialsSecret: 's' },
      { token: 't' },
    ],
    [
      'groupedhost',
      { instanceUrl: '', group: 'a/b', project: 'p', token: 't' },
      { group: 'a/b', project: 'p', credentialsSecret: 's' },
      { token: 't' },
    ],
    [
      'cloudorg',
      { orgUrl: 'https://h/org', accessToken: 't', repoName: 'My repo', project: 'Ünser Projekt' },
      { orgUrl: 'https://h/org', project: 'Ünser Projekt', repoName: 'My repo', credentialsSecret: 's' },
      { token: 't' },
    ],
    [
      'workspacehost',
      { workspace: 'w', repository: 'r', token: 't' },
      { workspace: 'w', repository: 'r', credentialsSecret: 's' },
      { token: 't' },
    ],
  ])('%s %j', (type, params, source, texts) => {
    const body = addRepositorySchema.parse(request(type, params));
    const credentials = credentialTexts(body);
    expect(credentials).toEqual(texts);
    expect(sourceSpec(body, credentials && 's')).toEqual({ type, [type]: source });
  });
});

describe('the path of an error', () => {
  const groupedhost = { group: 'a', project: 'p', token: 't' };
  const cloudorg = { orgUrl: 'https://h/o', accessToken: 't', repoName: 'r', project: 'p' };
  test.each([
    ['generic', {}, ['params.origin']],
    ['generic', { origin: 'git@h:a', password: 'x' }, ['params.password']],
    ['generic', { origin: 'https://h/a', username: 5 }, ['params.username']],
    ['ownerhost', {}, ['params.owner', 'params.repo']],
    ['ownerhost', { owner: 'a/b', repo: '..' }, ['params.owner', 'params.repo']],
    ['ownerhost', { owner: 'a', repo: 'b', token: 'x y' }, ['params.token']],
    ['ownerhost', { owner: 'a', repo: 'b', token: null }, ['params.token']],
    ['groupedhost', { ...groupedhost, token: '' }, ['params.token']],
    ['groupedhost', { ...groupedhost, group: '/a', project: 'a/b' }, ['params.group', 'params.project']],
    ['groupedhost', { ...groupedhost, instanceUrl: 'file:///x' }, ['params.instanceUrl']],
    ['groupedhost', { ...groupedhost, instanceUrl: 'https://u:p@h' }, ['params.instanceUrl']],
    ['cloudorg', { ...cloudorg, accessToken: undefined }, ['params.accessToken']],
    ['cloudorg', { ...cloudorg, orgUrl: 'ftp://h', repoName: 'a/b' }, ['params.orgUrl', 'params.repoName']],
    ['workspacehost', { workspace: 'w' }, ['params.repository', 'params.token']],
    ['svn', {}, ['type']],
    ['', {}, ['type']],
  ])('%s %j: %j', (type, params, paths) => {
    const { error } = addRepositorySchema.safeParse(request(type, params));
    expect(error?.issues.map(({ path }) => path.join('.')).sort()).toEqual([...paths].sort());
  });

  test('names the known types for an unknown one', () => {
    const { error } = addRepositorySchema.safeParse(request('svn', {}));
    expect(error?.issues[0]?.message).toMatch(/^must be one of generic, .*ownerhost$/);
  });

  test.each<[unknown, string[]]>([
    [undefined, ['must be a JSON object']],
    [{ name: 'Shop', type: 'ownerhost' }, ['params is missing']],
    [
      { name: '', type: 'ownerhost', params: { owner: '', repo: 5 } },
      ['name must not be empty', 'params.repo must be a string'],
    ],
    [
      request('workspacehost', {}),
      ['params.workspace is missing', 'params.repository is missing', 'params.token is missing'],
    ],
    [request('generic', { origin: 'x'.repeat(3000) }), ['params.origin must have 2048 characters at most']],
  ])('has a message that says what to do: %j', (body, expected) => {
    const words = faultsOf(body);
    for (const one of expected) expect(words).toContainEqual(expect.stringContaining(one));
    expect(words.filter((one) => /expected|Invalid|Too (big|small)/.test(one))).toEqual([]);
  });
});

/** Returns the faults of a body with their paths, as responses report them. */
function faultsOf(body: unknown): string[] {
  try {
    parse(addRepositorySchema, body ?? 'no object', 'the body');
  } catch (error) {
    if (error instanceof Invalid && error.details)
      return error.details.map(({ path, message }) => `${path} ${message}`);
    throw error;
  }
  return [];
}
