import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { ANNOTATIONS } from '../../crds/labels.ts';
import { GROUP } from '../../crds/group.ts';
import { Secret } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_BUDGETS } from '../testing/test-options.ts';
import { MAX_OVERRIDES_BYTES, type OverridesView } from './override-view.ts';

const path = '/api/environment/acme.shop-main/overrides';
const main = { namespace: 'group-acme', name: 'shop-main' };
const encoded = (text: string) => Buffer.from(text).toString('base64');

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
  api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built' });
});

const send = (method: 'get' | 'post' | 'patch' | 'delete', rest = '', body?: object) =>
  request(api.app)[method](`${path}${rest}`).set('x-service-token', token).send(body);
const view = async () => (await send('get').expect(200)).body as OverridesView;
const overrides = () => api.cluster.all<Environment>(ENVIRONMENT)[0]?.spec.overrides;
const texts = () =>
  api.cluster
    .all<Secret>(Secret)
    .filter(({ metadata }) => metadata.namespace === 'group-acme')
    .flatMap(({ data }) => Object.values(data ?? {}))
    .map((value) => Buffer.from(value, 'base64').toString())
    .sort();

async function useTokenOf(access: string): Promise<void> {
  const body = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z', scopes: { access } };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  ({ token } = made.body as { token: string });
}

test('has none at first', async () => {
  expect(await view()).toEqual({ applies: true, variables: [], serviceFile: '' });
});

test('stores texts in Secrets that the environment owns, and leaves none behind', async () => {
  await send('post', '/variables', { name: 'KEY', value: 'hunter2' }).expect(201);
  await send('post', '/variables', { name: 'HIDDEN', value: 'hunter3', secret: true }).expect(201);
  await send('post', '', { serviceFile: encoded('services: {}') }).expect(200);
  await send('post', '', { serviceFile: encoded('services: {web: {}}') }).expect(200);
  await send('patch', '/variables', { name: 'KEY', value: 'hunter4' }).expect(200);
  expect(await view()).toEqual({
    applies: true,
    variables: [
      { name: 'KEY', value: 'hunter4', visibility: 'always' },
      { name: 'HIDDEN', value: '', visibility: 'always', secret: true },
    ],
    serviceFile: encoded('services: {web: {}}'),
  });
  expect(JSON.stringify(overrides())).not.toMatch(/hunter|services:/);
  expect(texts()).toEqual(['hunter3', 'hunter4', 'services: {web: {}}']);
  const owners = api.cluster.all<Secret>(Secret).flatMap(({ metadata }) => metadata.ownerReferences ?? []);
  expect(new Set(owners.map(({ kind }) => kind))).toEqual(new Set(['Environment']));
  const cleared = await send('delete').expect(200);
  expect(cleared.body).toEqual({ applies: true, variables: [], serviceFile: '' });
  expect(texts()).toEqual([]);
});

test('removes the service file with an empty one', async () => {
  await send('post', '', { serviceFile: encoded('services: {}') }).expect(200);
  await send('post', '', { serviceFile: encoded(' \n') }).expect(200);
  expect([overrides()?.serviceFile ?? undefined, texts()]).toEqual([undefined, []]);
});

test('shows neither values nor the service file to a read-only token, which sets none', async () => {
  await send('post', '/variables', { name: 'KEY', value: 'hunter2' }).expect(201);
  await send('post', '', { serviceFile: encoded('x-a: hunter2') }).expect(200);
  await useTokenOf('read');
  expect(await view()).toEqual({
    applies: true,
    variables: [{ name: 'KEY', value: '', visibility: 'always', withheld: true }],
    serviceFile: '',
    withheld: true,
  });
  await send('post', '', { serviceFile: encoded('services: {}') }).expect(403);
  await send('post', '/variables', { name: 'NEW', value: 'x' }).expect(403);
  await send('delete').expect(403);
});

test('needs the access to administer, as variables of the repository do', async () => {
  await useTokenOf('operate');
  await send('post', '/variables', { name: 'NEW', value: 'x' }).expect(403);
});

test('is hidden from another account', async () => {
  ({ token } = await api.login('mallory@example.com'));
  await send('get').expect(404);
  await send('post', '', { serviceFile: '' }).expect(404);
  await send('post', '/variables', { name: 'NEW', value: 'x' }).expect(404);
});

describe('refuses', () => {
  test('reserved names', async () => {
    const { body } = (await send('post', '/variables', { name: 'COPPICE_COMMIT', value: 'x' }).expect(422)) as {
      body: object;
    };
    expect(JSON.stringify(body)).toContain('is reserved');
  });

  test('a service file that is not YAML, with line and column', async () => {
    const { body } = (await send('post', '', { serviceFile: encoded('services:\n  web: [\n') }).expect(422)) as {
      body: object;
    };
    expect(JSON.stringify(body)).toMatch(/overrides:\d+:\d+/);
    expect(texts()).toEqual([]);
  });

  test('a service file or values that are too large', async () => {
    await send('post', '', { serviceFile: encoded(`a: ${'x'.repeat(MAX_OVERRIDES_BYTES)}`) }).expect(422);
    const value = 'x'.repeat(30_000);
    await send('post', '/variables', { name: 'A', value }).expect(201);
    await send('post', '/variables', { name: 'B', value }).expect(201);
    await send('post', '/variables', { name: 'C', value }).expect(422);
  });

  test('more than 50 variables', async () => {
    const variables = Array.from({ length: 50 }, (_, index) => ({
      name: `A${index}`,
      value: '',
      visibility: 'always',
    }));
    api.cluster.change(ENVIRONMENT, main, { spec: { overrides: { variables } } });
    await send('post', '/variables', { name: 'B', value: '' }).expect(409);
  });

  test('overrides of code that is not trusted, but deletes them', async () => {
    await send('post', '/variables', { name: 'KEY', value: 'hunter2' }).expect(201);
    const untrusted = { type: 'Trusted', status: 'False', reason: 'Fork', message: '', lastTransitionTime: '' };
    api.cluster.change(ENVIRONMENT, main, { status: { conditions: [untrusted] } });
    const refused = await send('post', '/variables', { name: 'NEW', value: 'x' }).expect(409);
    expect(JSON.stringify(refused.body)).toContain('is not trusted');
    await send('patch', '/variables', { name: 'KEY', value: 'x' }).expect(409);
    await send('post', '', { serviceFile: encoded('services: {}') }).expect(409);
    expect(await view()).toMatchObject({ applies: false });
    await send('delete', '/variables/KEY').expect(200);
  });

  test('what a GitOps tool applies', async () => {
    const variables = [{ name: 'KEY', value: 'applied', visibility: 'always' }];
    const serviceFile = { content: 'services: {}' };
    const fieldsV1 = {
      'f:spec': { 'f:overrides': { 'f:variables': { 'k:{"name":"KEY"}': {} }, 'f:serviceFile': { 'f:content': {} } } },
    };
    const managedFields = [{ manager: 'argocd', operation: 'Apply', fieldsV1 }];
    api.cluster.change(ENVIRONMENT, main, {
      metadata: { managedFields },
      spec: { overrides: { variables, serviceFile } },
    });
    expect(await view()).toMatchObject({ variables: [{ value: 'applied' }], serviceFile: encoded('services: {}') });
    await send('patch', '/variables', { name: 'KEY', value: 'x' }).expect(409);
    await send('post', '', { serviceFile: encoded('x-a: 1') }).expect(409);
    await send('post', '/variables', { name: 'OTHER', value: 'x' }).expect(201);
    expect(texts()).toEqual(['x']);
  });

  test('more than the account that created the group can store, in all its environments', async () => {
    const account = { ...TEST_BUDGETS.account, textBytes: 2000 };
    api = new TestApi({ budgets: { ...TEST_BUDGETS, account } });
    const login = await api.login('alice@example.com');
    ({ token } = login);
    const { metadata } = api.addGroup('acme', ['alice@example.com']);
    api.cluster.change(GROUP, metadata, {
      metadata: { annotations: { [ANNOTATIONS.createdBy]: login.user.accountId } },
    });
    api.addRepository('acme', 'shop');
    api.addEnvironment('acme', 'shop-main', 'shop', {});
    api.addEnvironment('acme', 'shop-other', 'shop', {}, { overrides: { serviceFile: { content: 'x'.repeat(1000) } } });
    await send('post', '', { serviceFile: encoded(`x-a: ${'x'.repeat(400)}`) }).expect(200);
    await send('post', '/variables', { name: 'A', value: 'x'.repeat(500) }).expect(409);
    await send('post', '/variables', { name: 'A', value: 'x' }).expect(201);
    await send('post', '/variables', { name: 'B', value: 'x' }).expect(201);
    await send('post', '/variables', { name: 'C', value: 'x' }).expect(409);
  });
});

describe('a service file with mistakes', () => {
  beforeEach(() => {
    api.addEnvironment('acme', 'shop-run', 'shop', { state: 'built', services: [{ name: 'api', ready: true }] });
  });
  const set = (text: string) =>
    request(api.app)
      .post('/api/environment/acme.shop-run/overrides')
      .set('x-service-token', token)
      .send({ serviceFile: encoded(text) });

  test('is refused for an unknown key, with the key that was probably meant', async () => {
    const answer = await set('services: { api: { enviroment: { A: b } } }').expect(422);
    expect((answer.body as { details: unknown }).details).toMatchObject([
      { message: expect.stringContaining('did you mean "environment"?') as unknown },
    ]);
    await set('sevices: {}').expect(422);
  });

  test.each<[string, unknown]>([
    ['services: { apj: { environment: { A: b } } }', [expect.stringContaining('did you mean "api"?')]],
    ['services: { api: { environment: { A: b } } }', undefined],
    ['services: { cache: { image: redis } }', undefined],
    ['services: { api: !reset null }', undefined],
  ])('is stored with warnings: %s', async (text, warnings) => {
    const answer = await set(text).expect(200);
    expect((answer.body as OverridesView).warnings).toEqual(warnings);
  });
});
