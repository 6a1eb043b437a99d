import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import type { RefSnapshot } from '../../crds/ref-snapshot.ts';
import { REPOSITORY, type Repository } from '../../crds/repository.ts';
import { TestApi } from '../testing/test-api.ts';

let api: TestApi;
let token: string;

const snapshot: RefSnapshot = {
  at: '2026-01-01T00:00:00.000Z',
  branches: ['main', 'wip'],
  tags: ['v3', 'v2', 'v1', 'nightly'],
  pullRequests: [
    { number: 8, isFork: true },
    { number: 7, labels: ['preview'], isFork: false },
  ],
  leftOut: { branches: 0, tags: 3, pullRequests: 0 },
};

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});

const repository = () => api.cluster.all<Repository>(REPOSITORY)[0];
const send = (rest: string, body: object) =>
  request(api.app).post(`/api/repository/acme.shop${rest}`).set('x-service-token', token).send(body);
const get = () => request(api.app).get('/api/repository/acme.shop/rules').set('x-service-token', token);
const check = async (body: object) => (await send('/rules/check', body).expect(200)).body as object;
const own = async () => (await get().expect(200)).body as object;

const rules = [
  { branches: ['main'], environment: 'built' },
  { pullRequests: { labels: ['preview'] }, environment: 'created' },
  { tags: ['v*'] },
];

test('returns for each listed ref which rule decides, and why', async () => {
  await api.listRefs('shop', snapshot);
  api.addEnvironment('acme', 'shop-main', 'shop');
  expect(await check({ rules, newestTags: 2 })).toEqual({
    listedAt: snapshot.at,
    matched: [1, 1, 3],
    unmatched: 3,
    leftOut: snapshot.leftOut,
    refs: [
      {
        ...{ type: 'branch', name: 'main', rule: 1, environment: 'built', why: 'rule 1: the name matches main' },
        id: 'acme.shop-main',
      },
      { type: 'branch', name: 'wip', environment: 'none', why: 'rule 1: the name matches none of its branches' },
      {
        ...{ type: 'pull request', name: '8', environment: 'none' },
        why: 'rule 2: comes from a fork, and created requires forks: true',
      },
      {
        ...{ type: 'pull request', name: '7', rule: 2, environment: 'created' },
        why: 'rule 2: has the label preview, comes from the repository',
      },
      { type: 'tag', name: 'v3', rule: 3, environment: 'empty', why: 'rule 3: the name matches v*' },
      { type: 'tag', name: 'v2', rule: 3, environment: 'empty', why: 'rule 3: the name matches v*' },
      {
        ...{ type: 'tag', name: 'v1', rule: 3, environment: 'none' },
        why: 'rule 3: the name matches v*; not one of the 2 newest tags',
      },
      { type: 'tag', name: 'nightly', environment: 'none', why: 'rule 3: the name matches none of its tags' },
    ],
  });
});

test("returns the same for the repository's own rules, and stores no others", async () => {
  await api.listRefs('shop', snapshot);
  const before = repository()?.metadata.resourceVersion;
  expect(await own()).toMatchObject({
    matched: [],
    unmatched: 8,
    refs: expect.arrayContaining([expect.objectContaining({ environment: 'empty', why: 'there are no rules' })]),
  });
  const none = Array<object>(8).fill({ environment: 'none' });
  expect(await check({ rules: [] })).toMatchObject({ unmatched: 8, refs: none });
  expect(repository()?.metadata.resourceVersion).toBe(before);
  await send('/settings', { sync: { rules } }).expect(200);
  expect(await own()).toEqual(await check({ rules }));
  expect(await own()).toMatchObject({ matched: [1, 1, 3] });
});

test('reports that no refs are known, and fails while Redis is away', async () => {
  const answer = await check({ rules });
  expect(answer).toMatchObject({ matched: [0, 0, 0], unmatched: 0, refs: [] });
  expect(answer).not.toHaveProperty('listedAt');
  const getSession = api.redis.get.bind(api.redis);
  api.redis.get = (key) => (key.startsWith('coppice:refs:') ? Promise.reject(new Error('away')) : getSession(key));
  await send('/rules/check', { rules }).expect(503);
  await get().expect(503);
});

test('answers a read-only token', async () => {
  const made = { name: 'ci', expirationTime: '2026-02-01T00:00:00Z', readOnly: true };
  const created = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(made);
  ({ token } = created.body as { token: string });
  await Promise.all([own(), check({ rules })]);
  await send('/settings', { sync: { dryRun: true } }).expect(403);
});

describe('the settings', () => {
  test('take rules and the dry run, return them, and null removes the rules', async () => {
    const stored = [rules[0], rules[1], { ...rules[2], environment: 'empty' }];
    const answer = await send('/settings', { sync: { rules, dryRun: 'true' } }).expect(200);
    expect(answer.body).toMatchObject({ sync: { newestTags: 10, rules: stored, dryRun: true } });
    expect(repository()?.spec.sync).toEqual({ rules: stored, dryRun: true });
    const removed = await send('/settings', { sync: { rules: null, dryRun: false } }).expect(200);
    expect((removed.body as { sync: object }).sync).toEqual({ newestTags: 10 });
  });

  test.each<[what: string, rules: unknown, path: string, message: string]>([
    ['no list', {}, 'rules', 'must be a list'],
    ['a rule for two types', [{ branches: ['a'], tags: ['a'] }], 'rules.0', 'one of branches, tags and pullRequests'],
    ['a bad pattern', [{ tags: ['*'] }, { branches: ['a', '!b'] }], 'rules.1.branches.1', 'such as release/**'],
    ['an unknown environment', [{ tags: ['*'], environment: 'x' }], 'rules.0.environment', 'must be one of none, '],
    ['a negative time to live', [{ tags: ['*'], ttlSeconds: -1 }], 'rules.0.ttlSeconds', '0'],
  ])('refuse %s with its path, as the check does', async (_what, given, path, message) => {
    const details = (at: string) => [{ path: at, message: expect.stringContaining(message) }];
    const settings = await send('/settings', { sync: { rules: given } }).expect(422);
    expect(settings.body).toMatchObject({ details: details(`sync.${path}`) });
    const checked = await send('/rules/check', { rules: given }).expect(422);
    expect(checked.body).toMatchObject({ details: details(path) });
  });
});
