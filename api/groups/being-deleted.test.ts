import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { GROUP } from '../../crds/group.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { requestAnnotation } from '../../crds/requests.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { TestApi } from '../testing/test-api.ts';

const namespace = 'group-acme';
const environment = '/api/environment/acme.shop-main';
const repository = '/api/repository/acme.shop';
const group = '/api/group/acme';
const marked = { metadata: { deletionTimestamp: '2026-01-02T00:00:00Z' } };

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
  const build = { number: 1, result: 'succeeded', startedAt: '2026-01-01T00:00:00Z' } as const;
  api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', build, activation: sampleActivation() });
});

const send = (method: 'get' | 'post' | 'put' | 'delete', path: string, body?: object) =>
  request(api.app)[method](path).set('x-service-token', token).send(body);
const read = async (path: string) => (await send('get', path).expect(200)).body as unknown;

test('shows nothing as being deleted before', async () => {
  expect(await read('/api/groups')).toEqual([{ id: 'acme', name: 'acme' }]);
  expect(await read(repository)).not.toHaveProperty('deleting');
  expect(await read(environment)).toMatchObject({ status: 'built' });
});

describe.each([
  ['a repository', repository, () => api.cluster.change(REPOSITORY, { namespace, name: 'shop' }, marked)],
  ['a group', group, () => api.cluster.change(GROUP, { name: 'acme' }, marked)],
])('after the deletion of %s, although the operator has deleted nothing yet,', (_what, path, deleteIt) => {
  const environments = [{ id: 'acme.shop-main', status: 'building' }];

  test('shows it in this response and all later ones', async () => {
    const answer = (await send('delete', path).expect(202)).body as unknown;
    expect(answer).toMatchObject({ deleting: true });
    expect(JSON.stringify(answer)).toContain('"status":"building"');
  });

  test('does not show its repository and environments in their former state', async () => {
    deleteIt();
    expect(await read(repository)).toMatchObject({ deleting: true, environments });
    expect(await read(environment)).toMatchObject({ status: 'building' });
    expect(await read(group)).toMatchObject({ repositories: [{ deleting: true, environments }] });
  });

  test('refuses requests that would change it', async () => {
    deleteIt();
    const error = 'the environment is being deleted. Wait until it is gone, then spawn it again';
    for (const [method, rest] of [
      ['put', ''],
      ['post', '/build'],
      ['post', '/rebuild'],
    ] as const) {
      const answer = await send(method, `${environment}${rest}`);
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([409, expect.stringMatching(/being deleted|built/)]);
    }
    expect((await send('post', `${environment}/build`).expect(409)).body).toEqual({ error });
    await send('post', `${repository}/spawn`, { gitRef: { name: 'main', type: 'branch' } }).expect(409);
    expect(JSON.stringify(api.cluster.all(ENVIRONMENT))).not.toContain(requestAnnotation('build'));
  });
});

test('lists a group that is being deleted, and adds no repository to it', async () => {
  api.cluster.change(GROUP, { name: 'acme' }, marked);
  expect(await read('/api/groups')).toEqual([{ id: 'acme', name: 'acme', deleting: true }]);
  const params = { origin: 'https://git.example/other.git' };
  const answer = await send('post', group, { name: 'other', type: 'generic', params }).expect(409);
  expect(answer.body).toEqual({ error: 'the group is being deleted. Wait until it is gone, or use another one' });
});
