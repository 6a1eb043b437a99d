import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import type { Environment } from '../../crds/environment.ts';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { REPOSITORY } from '../../crds/repository.ts';
import { TestApi } from '../testing/test-api.ts';
import type { EnvironmentPage } from './environment-list.ts';
import type { Overview } from './overview.ts';
import type { SearchResults } from './search.ts';

const since = '2026-01-01T00:00:00Z';
const condition = (type: string, status: 'True' | 'False', reason: string, message = '') => ({
  ...{ type, status, reason, message },
  lastTransitionTime: since,
});
const activation = { active: true, since, specActive: true, buildPending: false, reason: 'Spec' } as const;
const statuses = {
  failed: { state: 'created', activation, conditions: [condition('Stalled', 'True', 'BuildFailed', 'it failed')] },
  degraded: {
    ...{ state: 'built', activation },
    conditions: [condition('Reconciling', 'True', 'ServicesUnavailable', 'waiting for web: it ends')],
    services: [{ name: 'web', ready: false, message: 'it ends' }],
  },
  healthy: { state: 'built', activation, conditions: [condition('Ready', 'True', 'Built')] },
  asleep: { state: 'built', activation, sleep: { asleep: true, since, reason: 'Idle' } },
  inactive: { state: 'empty', activation: { ...activation, active: false } },
} satisfies Record<string, Environment['status']>;

let api: TestApi;
let token: string;

beforeEach(async () => {
  ({ api, token } = await TestApi.withShop());
});

async function get<T>(path: string, as = token, status = 200): Promise<T> {
  return (await request(api.app).get(path).set('x-service-token', as).expect(status)).body as T;
}

const list = (query = '') => get<EnvironmentPage>(`/api/repository/acme.shop/environments?${query}`);
const names = ({ items }: EnvironmentPage) => items.map(({ name }) => name);

function add(name: string, health: keyof typeof statuses, ref = name): void {
  const at = { namespace: 'group-acme', name };
  api.addEnvironment('acme', name, 'shop', statuses[health]);
  api.cluster.change(ENVIRONMENT, at, {
    spec: { gitRef: { name: ref, type: ref.startsWith('v') ? 'tag' : 'branch' } },
  });
}

async function tokenWith(scopes: object): Promise<string> {
  const body = { name: 'scoped', expirationTime: '2026-02-01T00:00:00Z', scopes };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  return (made.body as { token: string }).token;
}

describe('the environments of a repository', () => {
  beforeEach(() => {
    add('a-healthy', 'healthy', 'main');
    add('b-failed', 'failed', 'feature/Cart');
    add('c-empty', 'inactive', 'v1.0');
    add('d-degraded', 'degraded', 'fix');
  });

  test('are listed with the least healthy first', async () => {
    const page = await list();
    expect(page.items.map(({ name, health }) => [name, health])).toEqual([
      ['b-failed', 'failed'],
      ['d-degraded', 'degraded'],
      ['a-healthy', 'healthy'],
      ['c-empty', 'inactive'],
    ]);
    expect(page.items[0]?.problem).toMatchObject({ reason: 'BuildFailed', message: 'it failed' });
    expect(page.items[1]?.problem).toMatchObject({ reason: 'ServicesUnavailable', service: 'web', message: 'it ends' });
    expect(page).toMatchObject({
      total: 4,
      counts: { status: { built: 2, created: 1, empty: 1, building: 0 }, health: { failed: 1, healthy: 1 } },
    });
  });

  test.each([
    ['text=CART', ['b-failed']],
    ['text=shop.d-deg', []],
    ['text=acme.d-deg', ['d-degraded']],
    ['state=built', ['d-degraded', 'a-healthy']],
    ['state=created,empty', ['b-failed', 'c-empty']],
    ['health=failed,degraded', ['b-failed', 'd-degraded']],
    ['type=tag', ['c-empty']],
    ['sort=name', ['b-failed', 'd-degraded', 'a-healthy', 'c-empty']],
    ['sort=-name', ['c-empty', 'a-healthy', 'd-degraded', 'b-failed']],
    ['text=a%0Ab', []],
    ['asleep=true', []],
    ['asleep=false&health=healthy', ['a-healthy']],
  ])('can be filtered by %s', async (query, expected) => {
    expect(names(await list(query))).toEqual(expected);
  });

  test.each([
    'state=none',
    'limit=0',
    'limit=201',
    'sort=size',
    'cursor=nonsense',
    'after=nonsense',
    'type=',
    'asleep=x',
  ])('cannot be filtered by %s', async (query) => {
    await get(`/api/repository/acme.shop/environments?${query}`, token, 422);
  });

  test.each(['health', 'name', '-name', 'created', '-built'])('are paged by %s, each once', async (sort) => {
    const all = names(await list(`sort=${sort}`));
    const paged: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: EnvironmentPage = await list(`sort=${sort}&limit=1${cursor && `&cursor=${cursor}`}`);
      paged.push(...names(page));
      cursor = page.next;
    }
    expect(paged).toEqual(all);
  });

  test('cannot be continued by a cursor of another order', async () => {
    const { next } = await list('sort=name&limit=1');
    await get(`/api/repository/acme.shop/environments?sort=-name&cursor=${next}`, token, 422);
  });

  test('of a repository that is being deleted are shown as such', async () => {
    api.cluster.change(
      REPOSITORY,
      { namespace: 'group-acme', name: 'shop' },
      { metadata: { deletionTimestamp: since } },
    );
    expect((await list()).items.every(({ deleting }) => deleting === true)).toBe(true);
  });

  test('wait a limited time for what another replica has sent', async () => {
    await list('after=1-1-1.1-1-1');
    await get('/api/repository/acme.shop/environments?after=1-1-1.1-1-99999999', token, 503);
  });
});

describe('the overview', () => {
  test('contains groups, repositories with counts, and the least healthy environments first', async () => {
    add('a-healthy', 'healthy');
    add('b-failed', 'failed');
    api.addRepository('acme', 'other');
    const seen = await get<Overview>('/api/overview?limit=1');
    expect(seen.groups).toMatchObject([{ id: 'acme', health: 'healthy' }]);
    expect(seen.repositories).toMatchObject([
      { id: 'acme.shop', counts: { health: { failed: 1, healthy: 1 } } },
      { id: 'acme.other', counts: { health: { failed: 0 } } },
    ]);
    expect(seen.environments.map(({ id }) => id)).toEqual(['acme.b-failed']);
    expect(seen.counts.status).toMatchObject({ built: 1, created: 1 });
  });

  test('contains environments beyond the limit that are asked for, and counts those that sleep', async () => {
    add('a-healthy', 'healthy');
    add('b-failed', 'failed');
    add('c-asleep', 'asleep');
    api.addGroup('secret', ['mallory@example.com']);
    api.addRepository('secret', 'shop');
    api.addEnvironment('secret', 'plan', 'shop', statuses.healthy);
    const include = 'acme.c-asleep,acme.b-failed,acme.gone,secret.plan';
    const seen = await get<Overview>(`/api/overview?limit=1&include=${include}`);
    expect(seen.environments.map(({ id }) => id)).toEqual(['acme.b-failed', 'acme.c-asleep']);
    expect(seen.counts.asleep).toBe(1);
    expect(names(await list('asleep=true'))).toEqual(['c-asleep']);
    const many = Array.from({ length: 51 }, (_none, index) => `acme.e-${index}`).join(',');
    await get(`/api/overview?include=${many}`, token, 422);
  });

  test('contains nothing of another account', async () => {
    const { token: other } = await api.login('mallory@example.com');
    expect(await get<Overview>('/api/overview', other)).toMatchObject({
      groups: [],
      repositories: [],
      environments: [],
    });
  });

  test('contains one repository for a token of that repository', async () => {
    api.addRepository('acme', 'other');
    const scoped = await tokenWith({ repositories: ['acme.other'], access: 'read' });
    const seen = await get<Overview>('/api/overview', scoped);
    expect(seen).toMatchObject({ groups: [], repositories: [{ id: 'acme.other' }] });
  });
});

describe('a search', () => {
  const found = ({ results }: SearchResults) => results.map(({ kind, item }) => `${kind} ${item.id}`);
  const search = async (text: string, as = token) =>
    found(await get<SearchResults>(`/api/search?text=${encodeURIComponent(text)}`, as));

  beforeEach(() => add('shop-main', 'healthy', 'main'));

  test('finds groups, repositories and environments, whole names first', async () => {
    add('x-acme', 'healthy', 'acme');
    expect(await search('ACME')).toEqual([
      'group acme',
      'environment acme.x-acme',
      'repository acme.shop',
      'environment acme.shop-main',
    ]);
    expect(await search('mai')).toEqual(['environment acme.shop-main']);
    expect(await search('nothing')).toEqual([]);
  });

  test('finds nothing of another account', async () => {
    const { token: other } = await api.login('mallory@example.com');
    expect(await search('acme', other)).toEqual([]);
  });

  test('finds nothing else with a token for another repository', async () => {
    api.addRepository('acme', 'other');
    const scoped = await tokenWith({ repositories: ['acme.other'] });
    expect(await search('acme', scoped)).toEqual(['repository acme.other']);
  });

  test('returns a limited number of results', async () => {
    for (let index = 0; index < 30; index++) add(`many-${index}`, 'inactive');
    const answer = await get<SearchResults>('/api/search?text=many&limit=5');
    expect(answer.results).toHaveLength(5);
    expect(answer.truncated).toBe(true);
    await get('/api/search?text=', token, 422);
    await get(`/api/search?text=${'x'.repeat(101)}`, token, 422);
  });
});
