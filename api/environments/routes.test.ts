import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { requestAnnotation } from '../../crds/requests.ts';
import { sampleActivation } from '../../crds/testing/activation.ts';
import { TestApi } from '../testing/test-api.ts';
import { TEST_ORIGIN } from '../testing/test-options.ts';

const id = 'acme.shop-main';
const path = `/api/environment/${id}`;
const activation = sampleActivation();

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});

const asAlice = (sent: request.Test) => sent.set('x-service-token', token);

function annotations(name = 'shop-main'): Record<string, string> {
  const found = api.cluster.all<Environment>(ENVIRONMENT).find(({ metadata }) => metadata.name === name);
  return found?.metadata.annotations ?? {};
}

describe('spawn', () => {
  const spawn = (body: object) => asAlice(request(api.app).post('/api/repository/acme.shop/spawn')).send(body);
  const gitRef = { name: 'main', type: 'branch' };

  test('creates an Environment that can be read immediately', async () => {
    const answer = await spawn({ name: 'Demo', build: 'false', ttl: '3600', gitRef }).expect(201);
    const weburl = 'http://shop-main--acme.env.localhost:8080/';
    expect(answer.body).toEqual({ id, name: 'Demo', status: 'empty', weburl });
    const [environment] = api.cluster.all<Environment>(ENVIRONMENT);
    expect(environment).toMatchObject({
      metadata: {
        namespace: 'group-acme',
        name: 'shop-main',
        labels: { 'app.kubernetes.io/managed-by': 'coppice' },
        finalizers: ['coppice.dev/cleanup'],
      },
      spec: { displayName: 'Demo', repository: 'shop', gitRef, active: true, buildOnCreate: false, ttlSeconds: 3600 },
    });
    const read = await asAlice(request(api.app).get(path)).expect(200);
    expect(read.body).toMatchObject({ id, rid: 'acme.shop', status: 'empty', weburl, ttl: 3600 });
    const repository = await asAlice(request(api.app).get('/api/repository/acme.shop')).expect(200);
    expect(repository.body).toMatchObject({ environments: [{ id, name: 'Demo', gitRef }] });
  });

  test('creates another one beside those of the same ref', async () => {
    await spawn({ gitRef }).expect(201);
    const second = await spawn({ gitRef }).expect(201);
    expect((second.body as { id: string }).id).toMatch(/^acme\.shop-main-[a-z0-9]{5}$/);
  });

  test('with a build returns the ID of its request, and the number of the build', async () => {
    const body = (await spawn({ gitRef }).expect(201)).body as unknown;
    const asked = annotations()[requestAnnotation('build')];
    expect(body).toMatchObject({ status: 'empty', request: { id: asked, build: 1 } });
    expect(body).not.toHaveProperty('reused');
    const read = await asAlice(request(api.app).get(path)).expect(200);
    expect(read.body).toMatchObject({ build: { number: 1, result: 'pending', request: asked } });
  });

  describe('with ifExists reuse', () => {
    const reuse = (body: object = {}) => spawn({ gitRef, ifExists: 'reuse', ...body });
    const count = () => api.cluster.all(ENVIRONMENT).length;

    test('creates one where none exists, then returns and builds it', async () => {
      const first = await reuse().expect(201);
      expect(first.body).not.toHaveProperty('reused');
      const second = await reuse().expect(201);
      expect(second.body).toMatchObject({ id, reused: true, request: { build: 1 } });
      expect(count()).toBe(1);
    });

    test('leaves an environment with contents unchanged if build is false', async () => {
      api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', activation });
      const body = (await reuse({ build: false }).expect(201)).body as unknown;
      expect(body).toMatchObject({ id, status: 'built', reused: true });
      expect(body).not.toHaveProperty('request');
      expect(annotations()).toEqual({});
    });

    test('creates contents if the environment is empty', async () => {
      api.addEnvironment('acme', 'shop-main', 'shop', { state: 'empty', activation: { ...activation, active: false } });
      api.cluster.change(ENVIRONMENT, { namespace: 'group-acme', name: 'shop-main' }, { spec: { active: false } });
      const body = (await reuse({ ttl: 60 }).expect(201)).body as unknown;
      expect(body).toMatchObject({ id, status: 'building', reused: true });
      const asked = ['create', 'build', 'ttl'].map((name) => requestAnnotation(name as 'ttl'));
      expect(Object.keys(annotations()).sort()).toEqual(asked.sort());
    });

    test('ignores environments of other refs, and those being deleted', async () => {
      const { metadata } = api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', activation });
      await spawn({ gitRef: { name: 'other', type: 'branch' }, ifExists: 'reuse' }).expect(201);
      api.cluster.change(ENVIRONMENT, metadata, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
      const body = (await reuse().expect(201)).body as unknown;
      expect((body as { id: string }).id).toMatch(/^acme\.shop-main-[a-z0-9]{5}$/);
      expect(body).not.toHaveProperty('reused');
      expect(count()).toBe(3);
    });

    test('returns the one that another request has just created, which no cache has yet', async () => {
      const there = api.addEnvironment('acme', 'shop-main', 'shop', {});
      const { environments } = api.caches;
      const byIndex = environments.byIndex.bind(environments);
      environments.byIndex = (index, value) =>
        byIndex(index, value).filter(({ metadata }) => metadata.uid !== there.metadata.uid);
      const body = (await reuse().expect(201)).body as unknown;
      expect(body).toMatchObject({ id, reused: true });
      expect(count()).toBe(1);
    });

    test('answers 422 to other values', async () => {
      await spawn({ gitRef, ifExists: 'perhaps' }).expect(422);
    });
  });
});

describe('GET', () => {
  const get = (query = '') => asAlice(request(api.app).get(path + query));
  const built = () => Object.keys(annotations());

  beforeEach(() => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'created', activation });
  });

  test('starts one build of a created environment that was never built', async () => {
    await get().expect(200);
    await get().expect(200);
    expect(api.cluster.patches).toHaveLength(1);
    expect(built()).toEqual([requestAnnotation('build')]);
  });

  test.each(['?build=false', '?build=false&x=y'])('starts no build of %s', async (query) => {
    await get(query).expect(200);
    expect(built()).toEqual([]);
  });

  test('starts no build with a read-only token', async () => {
    const body = { name: 'reader', expirationTime: '2026-02-01T00:00:00Z', readOnly: true };
    const made = await asAlice(request(api.app).post('/api/user/tokens')).send(body).expect(201);
    const { token: reader } = made.body as { token: string };
    await request(api.app).get(path).set('x-service-token', reader).expect(200);
    expect(built()).toEqual([]);
  });

  test('starts no build for HEAD', async () => {
    await asAlice(request(api.app).head(path)).expect(200);
    expect(built()).toEqual([]);
  });

  test.each([
    [{ origin: 'https://evil.example' }, false],
    [{ 'sec-fetch-site': 'cross-site' }, false],
    [{ 'sec-fetch-site': 'same-site' }, false],
    [{ 'sec-fetch-site': 'none' }, true],
    [{ origin: TEST_ORIGIN }, true],
    [{}, true],
  ])('with a cookie and %j starts a build: %p', async (headers, starts) => {
    await request(api.app)
      .get(path)
      .set({ cookie: `token=${token}`, ...headers })
      .expect(200);
    expect(built().length === 1).toBe(starts);
  });
});

describe('PUT', () => {
  test.each([
    ['nothing', '', undefined, ['create', 'build'], undefined],
    ['the query', '?build=false&ttl=60', undefined, ['create', 'ttl'], '60'],
    ['the body, with strings', '', { build: 'false', ttl: '90' }, ['create', 'ttl'], '90'],
    ['both: the body counts', '?build=false&ttl=60', { build: true, ttl: 0 }, ['create', 'build', 'ttl'], '0'],
  ])('creates contents by %s', async (_name, query, body, requests, ttl) => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'empty' });
    const answer = await asAlice(request(api.app).put(path + query))
      .send(body)
      .expect(202);
    const { request: accepted } = answer.body as { request: { id: string; build?: number } };
    expect(answer.body).toMatchObject({ id, status: 'building' });
    const written = annotations();
    const isBuilt = requests.includes('build');
    expect(accepted).toEqual({ id: written[requestAnnotation('create')], ...(isBuilt && { build: 1 }) });
    expect(Object.keys(written).sort()).toEqual(requests.map((name) => requestAnnotation(name as 'ttl')).sort());
    expect(written[requestAnnotation('ttl')]?.split('/')[2]).toBe(ttl);
    expect((answer.body as { ttl?: number }).ttl).toBe(Number(ttl) > 0 ? Number(ttl) : undefined);
    expect(api.cluster.patches[0]?.patch).toMatchObject({ metadata: { uid: expect.any(String) } });
  });

  test('answers 409 with what to do while contents are being removed', async () => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', activation: { ...activation, active: false } });
    const answer = await asAlice(request(api.app).put(path)).expect(409);
    expect(answer.body).toEqual({ error: expect.stringContaining('once the environment is empty') });
    expect(annotations()).toEqual({});
  });

  test.each(['created', 'building', 'built'] as const)('answers 409 for one that is %s', async (state) => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state });
    const answer = await asAlice(request(api.app).put(path)).expect(409);
    expect(answer.body).toEqual({
      error: `the environment is ${state}: PUT needs an empty one. Use POST …/build, or POST …/rebuild to delete and create the contents`,
    });
    expect(annotations()).toEqual({});
  });
});

test('requests a deletion from the operator', async () => {
  api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', activation });
  const body = (await asAlice(request(api.app).delete(path)).expect(202)).body as unknown;
  expect(Object.keys(annotations())).toEqual([requestAnnotation('delete')]);
  const accepted = annotations()[requestAnnotation('delete')];
  const pendingRequests = [{ name: 'delete', id: accepted }];
  expect(body).toMatchObject({ status: 'building', request: { id: accepted }, pendingRequests });
});

test.each([
  ['one that is built', { state: 'built', activation }],
  ['an empty one', { state: 'empty', activation: { ...activation, active: false } }],
] as const)('requests a rebuild of %s from the operator', async (_what, status) => {
  api.addEnvironment('acme', 'shop-main', 'shop', status);
  await asAlice(request(api.app).post(`${path}/rebuild`)).expect(202);
  expect(Object.keys(annotations())).toEqual([requestAnnotation('rebuild')]);
});

describe('POST ttl', () => {
  const setTtl = (ttl: unknown) => asAlice(request(api.app).post(`${path}/ttl`)).send({ ttl });

  test('requests it from the operator, and returns the new one', async () => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', activation });
    expect((await setTtl('3600').expect(200)).body).toMatchObject({ ttl: 3600 });
    expect(Object.keys(annotations())).toEqual([requestAnnotation('ttl')]);
  });

  test.each([[undefined], [-1], ['soon'], [1.5]])('answers %p with 422', async (ttl) => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', activation });
    await setTtl(ttl).expect(422);
  });

  test('answers 409 for an empty environment', async () => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'empty', activation: { ...activation, active: false } });
    await setTtl(60).expect(409);
  });
});

describe('POST build', () => {
  const build = () => asAlice(request(api.app).post(`${path}/build`));

  test('requests a build from the operator', async () => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built', activation });
    await build().expect(202);
    expect(Object.keys(annotations())).toEqual([requestAnnotation('build')]);
  });

  test('answers 409 for an empty environment, and 202 for one about to be created', async () => {
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'empty', activation: { ...activation, active: false } });
    await build().expect(409);
    await asAlice(request(api.app).put(`${path}?build=false`)).expect(202);
    await build().expect(202);
  });
});

describe('approve', () => {
  const [waiting, other] = ['a'.repeat(40), 'b'.repeat(40)];
  const approve = (commit: string) => asAlice(request(api.app).post(`${path}/approve`)).send({ commit });
  const add = (status: Environment['status'] = {}) =>
    api.addEnvironment('acme', 'shop-main', 'shop', { state: 'empty', activation, ...status });

  test('requests the approval of the commit that waits, as this account', async () => {
    add({ approval: { waitingCommit: waiting }, activation: { ...activation, buildPending: true } });
    const before = await asAlice(request(api.app).get(path)).expect(200);
    expect(before.body).toMatchObject({
      ...{ status: 'empty', approval: { waitingCommit: waiting, commits: [] } },
      build: { result: 'pending', message: `waits until a member approves commit ${waiting}` },
    });
    const answer = await approve(waiting).expect(202);
    expect(answer.body).toMatchObject({ status: 'building', approval: { waitingCommit: waiting } });
    expect(annotations()).toEqual({
      [requestAnnotation('approve')]: expect.stringMatching(
        new RegExp(`^2026-01-02T00:00:00\\.000Z/[\\w-]+/${waiting}/alice@example\\.com$`),
      ),
    });
  });

  test('shows who approved which commit', async () => {
    add({ approval: { commits: [{ commit: other, by: 'bob@example.com', at: '2026-01-01T00:00:00Z' }] } });
    const read = await asAlice(request(api.app).get(path)).expect(200);
    expect(read.body).toMatchObject({
      approval: { commits: [{ commit: other, by: 'bob@example.com', at: Date.parse('2026-01-01T00:00:00Z') / 1000 }] },
    });
  });

  test.each<[string, Environment['status'], string, number]>([
    ['another commit than the one that waits', { approval: { waitingCommit: other } }, waiting, 409],
    ['a commit where none waits', {}, waiting, 409],
    ['a prefix', { approval: { waitingCommit: waiting } }, waiting.slice(0, 12), 422],
    ['a branch', { approval: { waitingCommit: waiting } }, 'main', 422],
  ])('refuses %s', async (_what, status, commit, expected) => {
    add(status);
    await approve(commit).expect(expected);
    expect(annotations()).toEqual({});
  });
});

describe('an environment that is being deleted', () => {
  beforeEach(() => {
    const { metadata } = api.addEnvironment('acme', 'shop-main', 'shop', { state: 'created', activation });
    api.cluster.change(ENVIRONMENT, metadata, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  });

  test.each([
    ['put', ''],
    ['post', '/build'],
    ['post', '/rebuild'],
    ['post', '/ttl'],
  ] as const)('accepts no %s %s', async (method, rest) => {
    await asAlice(request(api.app)[method](`${path}${rest}`))
      .send({ ttl: 60 })
      .expect(409);
    expect(annotations()).toEqual({});
  });

  test('can be read without a build, and deleted', async () => {
    await asAlice(request(api.app).get(path)).expect(200);
    await asAlice(request(api.app).delete(path)).expect(202);
    expect(annotations()).toEqual({});
  });
});

test('refuses to spawn in a repository that is being deleted', async () => {
  const at = { namespace: 'group-acme', name: 'shop' };
  api.cluster.change(REPOSITORY, at, { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
  const gitRef = { name: 'main', type: 'branch' };
  await asAlice(request(api.app).post('/api/repository/acme.shop/spawn')).send({ gitRef }).expect(409);
  expect(api.cluster.all(ENVIRONMENT)).toEqual([]);
});
