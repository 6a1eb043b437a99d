import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { GROUP } from '../../crds/group.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_BUDGETS } from '../testing/test-options.ts';

const account = { groups: 3, repositories: 4, environments: 5, textBytes: 100_000 };
const origin = 'https://git.example/a.git';
let api: TestApi;
let token: string;
let accountId: string;

beforeEach(async () => {
  api = new TestApi({ budgets: { ...TEST_BUDGETS, account } });
  const login = await api.login('alice@example.com');
  token = login.token;
  ({ accountId } = login.user);
});

const send = (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object) =>
  request(api.app)[method](`/api${path}`).set('x-service-token', token).send(body);
const addGroup = (name: string) => send('post', '/groups', { name });
const addRepository = (group: string, name: string) =>
  send('post', `/group/${group}`, { name, type: 'generic', params: { origin } });
/** Adds a group that alice created, and left or shares. */
function addMade(name: string, members: string[]): void {
  const { metadata } = api.addGroup(name, members);
  api.cluster.change(GROUP, metadata, { metadata: { annotations: { [ANNOTATIONS.createdBy]: accountId } } });
}
const accepted = (answers: { status: number }[]) => answers.filter(({ status }) => status === 201).length;

describe('groups', () => {
  test('of an account are limited, including those that it left, excluding those of others', async () => {
    for (const name of ['a', 'b', 'c', 'd']) api.addGroup(`others-${name}`, ['alice@example.com']);
    addMade('left', ['nobody@example.com']);
    await addGroup('first').expect(201);
    await addGroup('second').expect(201);
    const answer = await addGroup('third').expect(409);
    expect(answer.body).toEqual({
      error:
        'your account has 3 groups in all, and 3 is the limit. Delete some, or ask an administrator to raise the limit',
    });
    expect(await api.registry.metrics()).toContain('coppice_api_limited_requests_total{limit="groups"} 1');
  });

  test('that are created concurrently stay within the limit', async () => {
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => addGroup(name)));
    expect(accepted(answers)).toBeLessThanOrEqual(account.groups);
    for (const name of ['g', 'h', 'i']) await addGroup(name);
    expect(api.cluster.all(GROUP)).toHaveLength(account.groups);
  });
});

test('environments are limited over all groups that the account created, also those without contents', async () => {
  addMade('one', ['alice@example.com']);
  addMade('two', ['alice@example.com', 'bob@example.com']);
  for (const group of ['one', 'two']) api.addRepository(group, 'shop');
  const spawn = (group: string, name: string) =>
    send('post', `/repository/${group}.shop/spawn`, { gitRef: { name, type: 'branch' } });
  for (const name of ['a', 'b', 'c']) api.addEnvironment('one', `shop-${name}`, 'shop', { state: 'empty' });
  for (const name of ['a', 'b']) await spawn('two', name).expect(201);
  ({ token } = await api.login('bob@example.com'));
  const answer = await spawn('two', 'c').expect(409);
  expect(answer.text).toContain('created this one have 5 environments in all, and 5 is the limit. Delete some');
  expect(await api.registry.metrics()).toContain('coppice_api_limited_requests_total{limit="environments"} 1');
});

describe('repositories', () => {
  test('are limited over all groups that the account created', async () => {
    addMade('one', ['alice@example.com']);
    addMade('two', ['alice@example.com', 'bob@example.com']);
    for (const name of ['a', 'b']) await addRepository('one', name).expect(201);
    for (const name of ['a', 'b']) await addRepository('two', name).expect(201);
    const answer = await addRepository('one', 'c').expect(409);
    expect(answer.text).toContain('created this one have 4 repositories in all, and 4 is the limit. Delete some');
    // The limit applies whoever adds the repository.
    ({ token } = await api.login('bob@example.com'));
    await addRepository('two', 'c').expect(409);
    api.addGroup('gitops', ['bob@example.com']);
    await addRepository('gitops', 'c').expect(201);
  });

  test('that are added concurrently stay within the limit', async () => {
    addMade('one', ['alice@example.com']);
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => addRepository('one', name)));
    expect(accepted(answers)).toBeLessThanOrEqual(account.repositories);
    for (const name of ['g', 'h', 'i', 'j']) await addRepository('one', name);
    expect(api.cluster.all(REPOSITORY)).toHaveLength(account.repositories);
  });
});

describe('variables and service files', () => {
  const large = 'x'.repeat(30_000);
  const variable = (path: string, name: string, value = large) => send('post', `${path}/variables`, { name, value });
  const setFile = (text: string) =>
    send('post', '/repository/one.shop/settings', {
      serviceFile: { serviceFile: Buffer.from(text).toString('base64') },
    });

  beforeEach(() => {
    for (const name of ['one', 'two']) addMade(name, ['alice@example.com']);
    api.addRepository('one', 'shop');
  });

  test('are limited over all groups that the account created', async () => {
    await variable('/group/two', 'A').expect(201);
    await variable('/repository/one.shop', 'A').expect(201);
    await setFile(`# ${large}`).expect(200);
    const answer = await variable('/group/one', 'A').expect(409);
    expect(answer.text).toMatch(/have 88 KiB, and 98 KiB is the limit. Shorten or delete some/);
    await setFile(`# ${large}${large}`).expect(409);
    await send('patch', '/group/two/variables', { name: 'A', value: `${large}yy` }).expect(200);
    await send('patch', '/group/two/variables', { name: 'A', value: 'short' }).expect(200);
    await variable('/group/one', 'A').expect(201);
    api.addGroup('gitops', ['alice@example.com']);
    await variable('/group/gitops', 'A').expect(201);
  });

  test('that kubectl wrote beyond the limit can be shortened', async () => {
    const { metadata } = api.addGroup('three', ['alice@example.com'], {
      variables: ['A', 'B', 'C', 'D'].map((name) => ({ name, value: large, visibility: 'always' })),
    });
    api.cluster.change(GROUP, metadata, { metadata: { annotations: { [ANNOTATIONS.createdBy]: accountId } } });
    await variable('/group/one', 'A').expect(409);
    await send('patch', '/group/three/variables', { name: 'A', value: 'short' }).expect(200);
    await send('delete', '/group/three/variables/B').expect(200);
    await variable('/group/one', 'A').expect(201);
  });
});
