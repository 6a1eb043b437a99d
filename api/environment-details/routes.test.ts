import { beforeEach, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { ENVIRONMENT } from '../../crds/environment.ts';
import { LABELS } from '../../crds/labels.ts';
import { ApiError } from '../../kubernetes/api-error.ts';
import type { ListOptions } from '../../kubernetes/client-options.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/resource-type.ts';
import { TestApi } from '../testing/test-api.ts';
import type { EffectiveVariables } from './effective-variables.ts';

const main = { namespace: 'group-acme', name: 'shop-main' };
const path = '/api/environment/acme.shop-main';

let api: TestApi;
let token: string;
let asked: { kind: string; options: ListOptions }[];
let listed: (options: ListOptions) => KubernetesObject[];

beforeEach(async () => {
  asked = [];
  listed = () => [];
  const list = (type: ResourceType, options: ListOptions = {}) => {
    asked.push({ kind: type.kind, options });
    return new Promise<{ items: never[]; resourceVersion: string }>((resolve) => {
      resolve({ items: listed(options) as never[], resourceVersion: '1' });
    });
  };
  api = new TestApi({}, undefined, {}, undefined, undefined, undefined, { list });
  ({ token } = await api.login('alice@example.com'));
  api.addGroup('acme', ['alice@example.com'], {
    variables: [
      { name: 'BOTH', value: 'outer', visibility: 'always' },
      { name: 'OUTER', value: 'of the group', visibility: 'always' },
    ],
  });
  api.addRepository('acme', 'shop', {
    variables: [
      { name: 'BOTH', value: 'inner', visibility: 'buildtime' },
      { name: 'KEY', value: 'hunter2secret', visibility: 'always', secret: true },
    ],
  });
  api.addEnvironment('acme', 'shop-main', 'shop', { state: 'built' });
});

async function get(at: string, as = token, status = 200): Promise<unknown> {
  return (await request(api.app).get(at).set('x-service-token', as).expect(status)).body as unknown;
}

async function tokenWith(scopes: object): Promise<string> {
  const body = { name: 'scoped', expirationTime: '2026-02-01T00:00:00Z', scopes };
  const made = await request(api.app).post('/api/user/tokens').set('x-service-token', token).send(body).expect(201);
  return (made.body as { token: string }).token;
}

test.each(['events', 'variables', 'usage'])('hides %s of another account', async (what) => {
  const { token: other } = await api.login('mallory@example.com');
  await get(`${path}/${what}`, other, 404);
  expect(asked).toEqual([]);
});

describe('variables', () => {
  test('show where they are set, without secret values', async () => {
    const answer = (await get(`${path}/variables`)) as EffectiveVariables;
    const variables = answer.variables.filter(({ from }) => from !== 'coppice');
    expect({ ...answer, variables }).toEqual({
      applies: true,
      variables: [
        { name: 'BOTH', value: 'inner', visibility: 'buildtime', from: 'repository', overrides: 'group' },
        { name: 'KEY', value: '', visibility: 'always', secret: true, from: 'repository' },
        { name: 'OUTER', value: 'of the group', visibility: 'always', from: 'group' },
      ],
    });
  });

  test('show those of the environment over those of its repository and group', async () => {
    const variables = ['BOTH', 'OUTER', 'COPPICE_GROUP'].map((name) => ({ name, value: 'own', visibility: 'always' }));
    api.cluster.change(ENVIRONMENT, main, { spec: { overrides: { variables } } });
    const answer = (await get(`${path}/variables`)) as EffectiveVariables;
    const shown = answer.variables.filter(({ from }) => from !== 'coppice');
    expect(shown.map(({ name, value, from, overrides = '' }) => [name, value, from, overrides])).toEqual([
      ['BOTH', 'own', 'environment', 'repository'],
      ['KEY', '', 'repository', ''],
      ['OUTER', 'own', 'environment', 'group'],
    ]);
  });

  test('show those that Coppice sets, as in the deployed build, also to a read-only token', async () => {
    const deployed = { number: 7, commit: 'c0ffee', result: 'succeeded', startedAt: '2026-01-01T00:00:00Z' };
    const aliases = { 'my-admin': 'http://my-admin---shop-main--acme.env.localhost:8080/' };
    api.cluster.change(ENVIRONMENT, main, { status: { deployed, aliases } });
    const { variables } = (await get(`${path}/variables`, await tokenWith({ access: 'read' }))) as EffectiveVariables;
    const own = variables.filter(({ from }) => from === 'coppice');
    expect(Object.fromEntries(own.map(({ name, value }) => [name, value]))).toEqual({
      COPPICE_ENVIRONMENT: 'acme.shop-main',
      COPPICE_GROUP: 'acme',
      COPPICE_REPOSITORY: 'acme.shop',
      COPPICE_REF: 'main',
      COPPICE_REF_TYPE: 'branch',
      COPPICE_BRANCH: 'main',
      COPPICE_TAG: '',
      COPPICE_PULL_REQUEST: '',
      COPPICE_WEB_URL: 'http://shop-main--acme.env.localhost:8080',
      COPPICE_WEB_HOST: 'shop-main--acme.env.localhost',
      COPPICE_WEB_URL_MY_ADMIN: 'http://my-admin---shop-main--acme.env.localhost:8080',
      COPPICE_WEB_HOST_MY_ADMIN: 'my-admin---shop-main--acme.env.localhost',
      COPPICE_COMMIT: 'c0ffee',
      COPPICE_BUILD: '7',
      COPPICE_REGISTRY: 'registry:5000',
    });
    expect(own.every(({ visibility, withheld }) => visibility === 'always' && withheld === undefined)).toBe(true);
  });

  test('omit those of a group that only Coppice can set', async () => {
    api.addGroup('other', ['alice@example.com'], {
      variables: [{ name: 'COPPICE_GROUP', value: 'faked', visibility: 'always' }],
    });
    api.addRepository('other', 'shop', {});
    api.addEnvironment('other', 'shop-main', 'shop', { state: 'built' });
    const { variables } = (await get('/api/environment/other.shop-main/variables')) as EffectiveVariables;
    expect(variables.filter(({ name }) => name === 'COPPICE_GROUP')).toEqual([
      { name: 'COPPICE_GROUP', value: 'other', visibility: 'always', from: 'coppice' },
    ]);
  });

  test('have no values for a read-only token', async () => {
    const answer = JSON.stringify(await get(`${path}/variables`, await tokenWith({ access: 'read' })));
    expect(answer).not.toMatch(/inner|of the group|hunter2/);
    expect(answer).toContain('"withheld":true');
  });

  test('of the group are hidden from a token for the repository', async () => {
    const answer = JSON.stringify(await get(`${path}/variables`, await tokenWith({ repositories: ['acme.shop'] })));
    expect(answer).toContain('inner');
    expect(answer).not.toMatch(/OUTER|of the group|overrides/);
  });

  test('are not applied to untrusted code', async () => {
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const fork = { type: 'Trusted', status: 'False', reason: 'Fork', message: '', lastTransitionTime };
    api.cluster.change(ENVIRONMENT, main, { status: { conditions: [fork] } });
    expect(await get(`${path}/variables`)).toMatchObject({ applies: false });
  });
});

describe('events', () => {
  const event = (reason: string, firstTimestamp: string, more: object = {}) => ({
    ...{ apiVersion: 'v1', kind: 'Event', metadata: { name: reason, namespace: 'group-acme' } },
    involvedObject: { kind: 'Environment', name: 'shop-main' },
    ...{ type: 'Normal', reason, message: `about ${reason}`, firstTimestamp, ...more },
  });
  const object = { kind: 'Environment', name: 'shop-main' };
  const contents = 'env-shop-main--acme';

  test('are the newest of this environment and its contents, without control characters', async () => {
    listed = ({ namespace }) =>
      namespace === contents
        ? [event('Pulled', '2026-01-01T00:03:00Z', { involvedObject: { kind: 'Pod', name: 'web-1' } })]
        : [
            event('Old', '2026-01-01T00:00:00Z'),
            event('New', '2026-01-01T00:02:00Z', { type: 'Warning', message: 'red \u001b[31mtext' }),
            event('Again', '2026-01-01T00:01:00Z', { count: 3, lastTimestamp: '2026-01-01T00:01:30Z' }),
          ];
    const pod = { kind: 'Pod', name: 'web-1' };
    const [pulled, fresh, again] = [1767225780, 1767225720, 1767225660];
    expect(await get(`${path}/events?limit=3`)).toEqual([
      {
        object: pod,
        type: 'Normal',
        reason: 'Pulled',
        message: 'about Pulled',
        count: 1,
        firstAt: pulled,
        lastAt: pulled,
      },
      { object, type: 'Warning', reason: 'New', message: 'red text', count: 1, firstAt: fresh, lastAt: fresh },
      { object, type: 'Normal', reason: 'Again', message: 'about Again', count: 3, firstAt: again, lastAt: again + 30 },
    ]);
    const { uid } = api.caches.environments.get('group-acme/shop-main')?.metadata ?? {};
    const fieldSelector = `involvedObject.kind=Environment,involvedObject.uid=${uid}`;
    expect(asked).toMatchObject([
      { kind: 'Event', options: { namespace: 'group-acme', fieldSelector } },
      { kind: 'Event', options: { namespace: contents, limit: 1000 } },
    ]);
  });

  test('of pods, which contain the output of health checks, are not shown to a token that reads no values', async () => {
    const object = { kind: 'Pod', name: 'web-1' };
    listed = ({ namespace }) =>
      namespace === contents
        ? [event('Unhealthy', '2026-01-01T00:03:00Z', { involvedObject: object, message: 'failed: hunter2secret' })]
        : [event('Old', '2026-01-01T00:00:00Z')];
    expect(await get(`${path}/events`)).toMatchObject([{ object, reason: 'Unhealthy' }, { reason: 'Old' }]);
    const reader = await tokenWith({ access: 'read' });
    expect(await get(`${path}/events`, reader)).toMatchObject([{ reason: 'Old' }]);
    expect(await get(`${path}/events?limit=1`, reader)).toHaveLength(1);
  });

  test('are those of the environment where the API cannot read its namespace', async () => {
    listed = ({ namespace }) => {
      if (namespace === contents) throw new ApiError('GET /events', 403, 'Forbidden', 'events is forbidden');
      return [event('Old', '2026-01-01T00:00:00Z')];
    };
    expect(await get(`${path}/events`)).toMatchObject([{ object, reason: 'Old' }]);
  });

  test('are not asked of an empty environment, which has no namespace', async () => {
    api.cluster.change(ENVIRONMENT, main, { status: { state: 'empty' } });
    await get(`${path}/events`);
    expect(asked).toHaveLength(1);
  });

  test('are read once for several callers', async () => {
    await Promise.all([get(`${path}/events`), get(`${path}/events`), get(`${path}/events?limit=1`)]);
    expect(asked).toHaveLength(2);
  });
});

describe('usage', () => {
  const pod = (service: string, cpu: string, memory: string) => ({
    ...{ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics' },
    metadata: { name: 'pod', namespace: 'env-shop-main--acme', labels: { [LABELS.service]: service } },
    timestamp: '2026-01-01T00:00:00Z',
    containers: [{ name: service, usage: { cpu, memory } }],
  });

  test('is summed by service', async () => {
    listed = () => [pod('web', '250m', '64Mi'), pod('web', '1000000n', '1Ki'), pod('db', '0', '128Mi')];
    expect(await get(`${path}/usage`)).toEqual({
      measured: true,
      at: 1767225600,
      services: [
        { name: 'db', cpu: 0, memory: 134217728, pods: 1 },
        { name: 'web', cpu: 0.251, memory: 67109888, pods: 2 },
      ],
    });
    expect(asked).toMatchObject([{ kind: 'PodMetrics', options: { namespace: 'env-shop-main--acme' } }]);
  });

  test.each([403, 404, 503])('is absent if the cluster answers %i', async (code) => {
    listed = () => {
      throw new ApiError('list', code, 'Reason', 'no such API');
    };
    expect(await get(`${path}/usage`)).toMatchObject({ measured: false });
  });
});
