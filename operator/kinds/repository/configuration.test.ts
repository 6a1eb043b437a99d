import { describe, expect, test } from '@jest/globals';
import type { OverridesSpec } from '../../../crds/environment.ts';
import type { Group } from '../../../crds/group.ts';
import { withoutTexts } from '../../../crds/repository-texts.ts';
import type { Repository } from '../../../crds/repository.ts';
import type { Variable } from '../../../service-file/variables.ts';
import { Waiting } from '../../shared/errors.ts';
import { GitHosts } from '../../source/hosts/git-hosts.ts';
import { RepositoryConfigurations } from './configuration.ts';
import { groupFlows } from '../../source/hosts/testing/group-flows.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secrets: Record<string, Record<string, string>> = {
  git: { username: base64('bot'), password: base64('hunter2') },
  variables: { TOKEN: base64('s3cret') },
  others: { TOKEN: base64('s3cret') },
  text: { 'content.abcde.4': base64('a: 1') },
  groups: { TOKEN: base64('s3cret') },
  overrides: { 'content.abcde.4': base64('b: 2'), TOKEN: base64('own') },
};
const owners: Record<string, { kind: string; uid: string }> = {
  variables: { kind: 'Repository', uid: 'uid-of-shop' },
  others: { kind: 'Repository', uid: 'uid-of-other' },
  groups: { kind: 'Group', uid: 'uid-of-acme' },
  overrides: { kind: 'Environment', uid: 'uid-of-main' },
};

function configurations(repository: Partial<Repository['spec']> | undefined, group: Partial<Group['spec']> = {}) {
  const spec = { type: 'generic', generic: { origin: 'https://git.example/shop.git' }, ...repository } as const;
  const metadata = { name: 'shop', uid: 'uid-of-shop', namespace: 'group-acme' };
  const asked: string[] = [];
  const client = {
    find: (type: { kind: string }, { name }: { name: string }) => {
      asked.push(name);
      if (type.kind === 'Repository') return Promise.resolve({ metadata, spec });
      return Promise.resolve(
        secrets[name] && { metadata: { name, ownerReferences: owners[name] && [owners[name]] }, data: secrets[name] },
      );
    },
  };
  const reader = new RepositoryConfigurations(
    client as never,
    { get: () => repository && withoutTexts({ apiVersion: 'v', kind: 'Repository', metadata, spec }) },
    {
      get: () => ({
        apiVersion: 'v',
        kind: 'Group',
        metadata: { name: 'acme', uid: 'uid-of-acme' },
        spec: { members: [], ...group },
      }),
    },
    new GitHosts({
      client: client as never,
      source: undefined as never,
      http: undefined as never,
      defaults: undefined as never,
      flows: groupFlows,
      sshKeys: undefined as never,
    }),
    { forkApproval: 'notRequired' },
  );
  const id = { group: 'acme', name: 'shop' };
  const readWith = (overrides: OverridesSpec) =>
    reader.read(id, {
      ...{ apiVersion: 'v', kind: 'Environment' },
      metadata: { name: 'shop-main', uid: 'uid-of-main', namespace: 'group-acme' },
      spec: {
        repository: 'shop',
        gitRef: { name: 'main', type: 'branch' },
        active: true,
        buildOnCreate: true,
        overrides,
      },
    });
  return { asked, reader, read: () => reader.read(id), readWith };
}

const fromSecret = (key: string, name = 'variables') => ({
  name: key,
  valueFrom: { secretKeyRef: { name, key } },
  visibility: 'buildtime' as const,
});

describe('the configuration of an environment', () => {
  const named = (name: string, value: string) => ({ name, value, visibility: 'always' as const });
  const content = { contentFrom: { secretKeyRef: { name: 'overrides', key: 'content.abcde.4' } } };

  test('has its variables over those of the Repository and its Group, and its service file', async () => {
    const { readWith } = configurations(
      { variables: [named('A', 'r'), named('B', 'r')] },
      { variables: [named('C', 'g')] },
    );
    const { variables, serviceFile } = await readWith({
      variables: [named('A', 'e'), fromSecret('TOKEN', 'overrides'), named('COPPICE_COMMIT', 'e')],
      serviceFile: content,
    });
    expect([...variables].map(([name, { value }]) => `${name}=${value}`).sort()).toEqual([
      ...['A=e', 'B=r', 'C=g', 'TOKEN=own'],
    ]);
    expect(serviceFile).toEqual({ mode: 'repo', overrides: 'b: 2' });
  });

  test('has a service file in its spec', async () => {
    const { serviceFile } = await configurations({}).readWith({ serviceFile: { content: 'a: 1' } });
    expect(serviceFile).toEqual({ mode: 'repo', overrides: 'a: 1' });
  });

  test.each<[string, OverridesSpec]>([
    ['a variable', { variables: [fromSecret('TOKEN', 'variables')] }],
    ['its service file', { serviceFile: { contentFrom: { secretKeyRef: { name: 'variables', key: 'TOKEN' } } } }],
  ])('does not take %s from a Secret of the Repository', async (_what, overrides) => {
    await expect(configurations({}).readWith(overrides)).rejects.toMatchObject({ reason: 'SecretNotAllowed' });
  });

  test('waits for the Secret of its service file', async () => {
    const overrides = { serviceFile: { contentFrom: { secretKeyRef: { name: 'missing', key: 'a' } } } };
    await expect(configurations({}).readWith(overrides)).rejects.toMatchObject({ reason: 'ServiceFileMissing' });
  });
});

describe('the configuration', () => {
  test('of a Repository without settings', async () => {
    expect(await configurations({}).read()).toMatchObject({
      repositoryUid: 'uid-of-shop',
      host: {
        access: {
          origin: 'https://git.example/shop.git',
          credentials: undefined,
          flowOwner: { tenant: 'group acme', group: 'acme' },
        },
      },
      variables: new Map(),
      serviceFile: { mode: 'repo' },
      trustForks: false,
      registrySecrets: [],
    });
  });

  test('omits variables with names that only Coppice sets, even if their Secrets are missing', async () => {
    const named = (name: string) => ({ name, value: 'x', visibility: 'always' as const });
    const { variables } = await configurations(
      { variables: [named('COPPICE_COMMIT'), { ...fromSecret('TOKEN', 'missing'), name: 'COPPICE_X' }, named('A')] },
      { variables: [named('COPPICE_URL')] },
    ).read();
    expect([...variables.keys()]).toEqual(['A']);
  });

  describe('with a service file in the settings', () => {
    const content = 'services: {}';
    const contentFrom = (name: string, key = 'content.abcde.4') => ({ secretKeyRef: { name, key } });

    test('is read only where it is used, because caches do not contain it', async () => {
      const { read, asked } = configurations({ serviceFile: { mode: 'both', content } });
      expect((await read()).serviceFile).toEqual({ mode: 'both', content });
      expect(asked).toEqual(['shop']);
      const unused = configurations({ serviceFile: { mode: 'repo', content } });
      expect((await unused.read()).serviceFile).toEqual({ mode: 'repo' });
      expect(unused.asked).toEqual([]);
    });

    test('is read from a Secret', async () => {
      const { read } = configurations({ serviceFile: { mode: 'panel', contentFrom: contentFrom('text') } });
      expect((await read()).serviceFile).toEqual({ mode: 'panel', content: 'a: 1' });
    });

    test.each([
      ['text', 'nothing', 'ServiceFileMissing'],
      ['nowhere', 'content', 'ServiceFileMissing'],
      ['others', 'TOKEN', 'SecretNotAllowed'],
    ])('reports the error of the Secret %s, key %s: %s', async (name, key, reason) => {
      const { read } = configurations({ serviceFile: { mode: 'panel', contentFrom: contentFrom(name, key) } });
      await expect(read()).rejects.toMatchObject({
        reason,
        message: expect.stringContaining('the service file of the settings'),
      });
    });
  });

  test('gives variables of the repository precedence over those of the group', async () => {
    const always = 'always' as const;
    const { read, asked } = configurations(
      { variables: [{ name: 'B', value: 'repository', visibility: always }, fromSecret('TOKEN')] },
      {
        variables: [
          { name: 'A', value: 'group', visibility: always },
          { name: 'B', value: 'group', visibility: always },
          fromSecret('TOKEN', 'groups'),
        ],
      },
    );
    expect((await read()).variables).toEqual(
      new Map([
        ['A', { value: 'group', visibility: 'always' }],
        ['B', { value: 'repository', visibility: 'always' }],
        ['TOKEN', { value: 's3cret', visibility: 'buildtime' }],
      ]),
    );
    expect(asked).toEqual(['groups', 'variables']);
  });

  test('reports which variables are secret, whoever has them', async () => {
    const marked = { ...fromSecret('TOKEN'), secret: true };
    const group = { variables: [{ ...fromSecret('TOKEN', 'groups'), name: 'GROUPS', secret: true }] };
    const { variables } = await configurations(
      { variables: [marked, { ...fromSecret('TOKEN'), name: 'B' }] },
      group,
    ).read();
    const secret: Variable = { value: 's3cret', visibility: 'buildtime', secret: true };
    expect(variables).toEqual(
      new Map<string, Variable>([
        ['GROUPS', secret],
        ['TOKEN', secret],
        ['B', { value: 's3cret', visibility: 'buildtime' }],
      ]),
    );
  });

  test('contains credentials, and the registry Secrets of both', async () => {
    const generic = { origin: 'https://git.example/shop.git', credentialsSecret: 'git' };
    const { read } = configurations({ generic, registrySecrets: ['a', 'b'] }, { registrySecrets: ['b', 'c'] });
    expect(await read()).toMatchObject({
      host: { access: { credentials: { username: 'bot', password: 'hunter2' } } },
      registrySecrets: [
        { name: 'a', namer: { kind: 'Repository', uid: 'uid-of-shop' } },
        { name: 'b', namer: { kind: 'Repository', uid: 'uid-of-shop' } },
        { name: 'b', namer: { kind: 'Group', uid: 'uid-of-acme' } },
        { name: 'c', namer: { kind: 'Group', uid: 'uid-of-acme' } },
      ],
    });
  });

  test('waits for a missing Repository', async () => {
    const missing = { reason: 'RepositoryNotFound' };
    await expect(configurations(undefined).read()).rejects.toThrow(Waiting);
    await expect(configurations(undefined).read()).rejects.toMatchObject(missing);
  });

  test.each<[string, Partial<Group['spec']>]>([
    ['others', {}],
    ['groups', {}],
    ['variables', { variables: [fromSecret('TOKEN', 'variables')] }],
  ])('does not contain variables that %s reserves for itself', async (name, group) => {
    const { read } = configurations(group.variables ? {} : { variables: [fromSecret('TOKEN', name)] }, group);
    await expect(read()).rejects.toMatchObject({ name: 'StallingError', reason: 'SecretNotAllowed' });
  });

  test('reads a Secret that several variables name once', async () => {
    const { read, asked } = configurations({ variables: [fromSecret('TOKEN'), { ...fromSecret('TOKEN'), name: 'B' }] });
    await read();
    expect(asked).toEqual(['variables']);
  });

  test.each([
    ['missing', 'TOKEN'],
    ['variables', 'OTHER'],
  ])('waits for the Secret %s with the key %s', async (name, key) => {
    const reading = configurations({ variables: [fromSecret(key, name)] }).read();
    await expect(reading).rejects.toThrow(Waiting);
    await expect(reading).rejects.toMatchObject({ reason: 'VariableMissing', message: expect.stringContaining(name) });
  });
});

test.each<[string, Partial<Repository['spec']> | undefined, { isRequired: boolean; byComment: boolean }]>([
  ['by default', {}, { isRequired: false, byComment: false }],
  ['as the Repository sets it', { forks: { approval: 'required' } }, { isRequired: true, byComment: false }],
  ['of no Repository', undefined, { isRequired: false, byComment: false }],
  [
    'at a host that reports who can write',
    {
      type: 'ownerhost',
      ownerhost: { owner: 'a', repo: 'b', credentialsSecret: 'c' },
      forks: { approval: 'required' },
    },
    { isRequired: true, byComment: true },
  ],
  [
    'without a token that could ask',
    { type: 'ownerhost', ownerhost: { owner: 'a', repo: 'b' }, forks: { approval: 'required' } },
    { isRequired: true, byComment: false },
  ],
])('returns whether forks need an approval: %s', (_what, spec, expected) => {
  expect(configurations(spec).reader.forkApproval({ group: 'acme', name: 'shop' })).toEqual(expected);
});
